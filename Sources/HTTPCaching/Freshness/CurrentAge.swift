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
