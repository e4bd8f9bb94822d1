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

/// A section of a specification that decides a question.
public struct Section: Hashable, Sendable, CustomStringConvertible {
  /// The number of the RFC, for example 9111.
  public let rfc: Int

  /// The number of the section, for example `4.2.1`.
  public let number: String

  /// Creates a reference to a section.
  public init(rfc: Int, _ number: String) {
    self.rfc = rfc
    self.number = number
  }

  /// HTTP Semantics.
  static func semantics(_ number: String) -> Section { Section(rfc: 9110, number) }

  /// HTTP Caching.
  static func caching(_ number: String) -> Section { Section(rfc: 9111, number) }

  /// HTTP Cache-Control Extensions for Stale Content.
  static func staleContent(_ number: String) -> Section { Section(rfc: 5861, number) }

  /// HTTP Immutable Responses.
  static func immutable(_ number: String) -> Section { Section(rfc: 8246, number) }

  /// For example `RFC 9111 §4.2.1`.
  public var description: String { "RFC \(rfc) §\(number)" }
}

/// The time since the origin generated or validated a stored response, with its components (RFC 9111 §4.2.3).
///
/// All numbers are seconds and never negative.
public struct CurrentAge: Hashable, Sendable {
  /// The `Age` of the response.
  public let ageField: AgeField

  /// The time from the `Date` to the receipt of the response: `apparent_age`.
  public let apparentAge: Int64

  /// The time from the request to the receipt of the response: `response_delay`.
  public let responseDelay: Int64

  /// The time since the receipt, by the clock of the cache; negative if the clock was set back.
  private let sinceReceipt: Int64

  /// Calculates the age of a response (RFC 9111 §4.2.3).
  ///
  /// - Parameter now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(of exchange: borrowing Exchange, at now: Int64) {
    self.init(of: exchange.freshnessFields, requestTime: exchange.requestTime, at: now)
  }

  /// Calculates the age of a response (RFC 9111 §4.2.3).
  init(of fields: borrowing FreshnessFields, requestTime: Int64, at now: Int64) {
    ageField = fields.age
    let received = fields.responseTime
    // 0 if the clock of the origin is ahead (RFC 9111 §4.2.3).
    apparentAge = max(0, received.saturatingSubtracting(fields.dateValue))
    // No store keeps the time of the request, so the delay is 0 there, and the age too small by
    // what the request took.
    responseDelay = max(0, received.saturatingSubtracting(requestTime))
    // Kept negative here, because a clock that was set back gets a remark.
    sinceReceipt = now.saturatingSubtracting(received)
  }

  /// Remarks about ignored fields and clock differences.
  public func fieldFindings(about exchange: borrowing Exchange) -> [FieldFinding] {
    var fieldFindings: [FieldFinding] = []
    if case .invalid(let text) = ageField {
      fieldFindings.append(FieldFinding(.invalidAge, .age, text))
    }
    if case .invalid(let text) = exchange.date {
      fieldFindings.append(FieldFinding(.invalidDate, .date, text))
    }
    let ahead = exchange.dateValue.saturatingSubtracting(exchange.responseTime)
    if ahead > 0 { fieldFindings.append(FieldFinding(.originClockAhead, .date, seconds: ahead)) }
    if sinceReceipt < 0 {
      let back = Int64(0).saturatingSubtracting(sinceReceipt)
      fieldFindings.append(FieldFinding(.clockSetBack, nil, seconds: back))
    }
    return fieldFindings
  }

  /// The time that the response has been in this cache: `resident_time`.
  // After a clock was set back, a negative time would make a response younger than it was when it
  // arrived.
  public var residentTime: Int64 { max(0, sinceReceipt) }

  /// The `Age`, or 0: `age_value` (RFC 9111 §4.2.3).
  public var ageValue: Int64 { ageField.ageValue }

  /// The `Age` plus the response delay: `corrected_age_value` (RFC 9111 §4.2.3).
  public var correctedAgeValue: Int64 { ageValue.saturatingAdding(responseDelay) }

  /// The age at the receipt of the response: `corrected_initial_age` (RFC 9111 §4.2.3).
  // The delay is added before the larger one is taken. RFC 2616 added it afterwards, and OkHttp
  // still does.
  public var correctedInitialAge: Int64 { max(apparentAge, correctedAgeValue) }

  /// The current age: `current_age` (RFC 9111 §4.2.3).
  public var seconds: Int64 { correctedInitialAge.saturatingAdding(residentTime) }
}

/// A response header field that determines freshness or is a validator (RFC 9111 §4.2, RFC 9110 §8.8).
public enum FreshnessField: Int, Hashable, Sendable, CaseIterable {
  /// `Age` (RFC 9111 §5.1).
  case age
  /// `Cache-Control` (RFC 9111 §5.2).
  case cacheControl
  /// `Date` (RFC 9110 §6.6.1).
  case date
  /// `ETag` (RFC 9110 §8.8.3).
  case entityTag
  /// `Expires` (RFC 9111 §5.3).
  case expires
  /// `Last-Modified` (RFC 9110 §8.8.2).
  case lastModified

  /// The name in lowercase ASCII.
  public var lowercased: String { known.lowercased }

  var known: KnownFieldName {
    switch self {
    case .age: .age
    case .cacheControl: .cacheControl
    case .date: .date
    case .entityTag: .entityTag
    case .expires: .expires
    case .lastModified: .lastModified
    }
  }

  init?(_ name: KnownFieldName) {
    switch name {
    case .age: self = .age
    case .cacheControl: self = .cacheControl
    case .date: self = .date
    case .entityTag: self = .entityTag
    case .expires: self = .expires
    case .lastModified: self = .lastModified
    default: return nil
    }
  }
}
