/// How long ago the origin generated or validated a stored response, and how that is made up
/// (RFC 9111 §4.2.3).
///
/// All numbers are seconds; none is less than zero.
public struct CurrentAge: Hashable, Sendable {
  /// What `Age` said.
  public let ageField: AgeField

  /// How much later than its `Date` the response was received: `apparent_age`.
  public let apparentAge: Int64

  /// How long it took to get the response: `response_delay`.
  public let responseDelay: Int64

  /// How long the response has been in this cache: `resident_time`.
  public let residentTime: Int64

  /// What was ignored, and where clocks differ.
  public let remarks: [Remark]

  /// Calculates the age of a response (RFC 9111 §4.2.3).
  ///
  /// - Parameter now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(of exchange: borrowing Exchange, at now: Int64) {
    ageField = AgeField(exchange.fields)
    let received = exchange.responseTime
    let sinceDate = received.saturatingSubtracting(exchange.dateValue)
    let sinceReceipt = now.saturatingSubtracting(received)
    apparentAge = max(0, sinceDate)
    responseDelay = max(0, received.saturatingSubtracting(exchange.requestTime))
    residentTime = max(0, sinceReceipt)
    var remarks: [Remark] = []
    if case .invalid(let text) = ageField { remarks.append(Remark(.invalidAge, .age, text)) }
    if case .invalid(let text) = exchange.date { remarks.append(Remark(.invalidDate, .date, text)) }
    if sinceDate < 0 {
      let ahead = exchange.dateValue.saturatingSubtracting(received)
      remarks.append(Remark(.originClockAhead, .date, seconds: ahead))
    }
    if sinceReceipt < 0 {
      let back = received.saturatingSubtracting(now)
      remarks.append(Remark(.clockSetBack, nil, seconds: back))
    }
    self.remarks = remarks
  }

  /// `Age`, or 0: `age_value` (RFC 9111 §4.2.3).
  public var ageValue: Int64 { ageField.ageValue }

  /// `Age`, and the time that the response was under way: `corrected_age_value`
  /// (RFC 9111 §4.2.3).
  public var correctedAgeValue: Int64 { ageValue.saturatingAdding(responseDelay) }

  /// The age when the response was received: `corrected_initial_age` (RFC 9111 §4.2.3).
  public var correctedInitialAge: Int64 { max(apparentAge, correctedAgeValue) }

  /// The age now: `current_age` (RFC 9111 §4.2.3).
  public var seconds: Int64 { correctedInitialAge.saturatingAdding(residentTime) }
}
