/// Whether a stored response is fresh, and for how long it will be, or has not been
/// (RFC 9111 §4.2).
public struct Freshness: Hashable, Sendable {
  /// How long the response is fresh.
  public let lifetime: FreshnessLifetime

  /// How old it is.
  public let age: CurrentAge

  /// When it becomes or became stale, in seconds since 1970 and by the clock of the cache; `nil` if
  /// it has no lifetime.
  public let expiresAt: Int64?

  /// Compares the lifetime of a response with its age (RFC 9111 §4.2).
  ///
  /// - Parameter now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(of exchange: borrowing Exchange, at now: Int64) {
    self.init(
      of: exchange.freshnessFields, status: exchange.status, requestTime: exchange.requestTime,
      at: now)
  }

  /// Compares the lifetime of a response with its age (RFC 9111 §4.2).
  ///
  /// - Parameters:
  ///   - requestTime: When the request was sent; `nil` for when the response was received.
  ///   - now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(
    of fields: borrowing FreshnessFields, status: Int64?, requestTime: Int64? = nil, at now: Int64
  ) {
    lifetime = FreshnessLifetime(of: fields, status: status)
    age = CurrentAge(of: fields, requestTime: requestTime ?? fields.responseTime, at: now)
    expiresAt =
      lifetime.source == .none
      ? nil
      : fields.responseTime.saturatingAdding(
        lifetime.seconds.saturatingSubtracting(age.correctedInitialAge))
  }

  /// Whether the lifetime is greater than the age; equal is stale (RFC 9111 §4.2).
  public var isFresh: Bool { lifetime.seconds > age.seconds }

  /// For how many more seconds the response is fresh; 0 if it is stale (RFC 9111 §4.2).
  public var remainingSeconds: Int64 {
    max(0, lifetime.seconds.saturatingSubtracting(age.seconds))
  }

  /// For how many seconds the response has been stale; 0 if it is fresh, or has just become stale
  /// (RFC 9111 §4.2.4).
  public var staleSeconds: Int64 {
    max(0, age.seconds.saturatingSubtracting(lifetime.seconds))
  }

  /// What of the response was ignored, and where clocks differ.
  public func remarks(about exchange: borrowing Exchange) -> [Remark] {
    lifetime.remarks(about: exchange) + age.remarks(about: exchange)
  }
}
