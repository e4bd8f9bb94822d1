/// Whether a stored response is fresh, and how long it will be fresh or has been stale (RFC 9111 §4.2).
public struct Freshness: Hashable, Sendable {
  /// The freshness lifetime.
  public let lifetime: FreshnessLifetime

  /// The current age.
  public let age: CurrentAge

  /// The time at which the response becomes or became stale, in seconds since 1970, by the clock of the cache; `nil` if
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
  ///   - requestTime: The time of the request; `nil` to use the time of receipt.
  ///   - now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(
    of fields: borrowing FreshnessFields, status: Int64?, requestTime: Int64? = nil, at now: Int64
  ) {
    lifetime = FreshnessLifetime(of: fields, status: status)
    age = CurrentAge(of: fields, requestTime: requestTime ?? fields.responseTime, at: now)
    // Without a lifetime, the formula would give a moment at or before the receipt, which looks like
    // an answer.
    expiresAt =
      lifetime.source == .none
      ? nil
      : fields.responseTime.saturatingAdding(
        lifetime.seconds.saturatingSubtracting(age.correctedInitialAge))
  }

  /// Whether the lifetime exceeds the age. If they are equal, the response is stale (RFC 9111 §4.2).
  // `max-age=0` is stale at once only if equality counts as stale. WebKit's own cache
  // counts it as fresh.
  public var isFresh: Bool { lifetime.seconds > age.seconds }

  /// The number of seconds until the response becomes stale; 0 if it is stale (RFC 9111 §4.2).
  public var remainingSeconds: Int64 {
    max(0, lifetime.seconds.saturatingSubtracting(age.seconds))
  }

  /// The number of seconds since the response became stale; 0 if it is fresh or has just become stale (RFC 9111
  /// §4.2.4).
  public var staleSeconds: Int64 {
    max(0, age.seconds.saturatingSubtracting(lifetime.seconds))
  }

  /// Remarks about ignored fields and clock differences.
  public func fieldFindings(about exchange: borrowing Exchange) -> [FieldFinding] {
    lifetime.fieldFindings(about: exchange) + age.fieldFindings(about: exchange)
  }
}
