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

  /// How long ago it was received, by the clock of the cache; less than zero if that was set back.
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
    apparentAge = max(0, received.saturatingSubtracting(fields.dateValue))
    responseDelay = max(0, received.saturatingSubtracting(requestTime))
    sinceReceipt = now.saturatingSubtracting(received)
  }

  /// What of the response was ignored, and where clocks differ.
  public func remarks(about exchange: borrowing Exchange) -> [Remark] {
    var remarks: [Remark] = []
    if case .invalid(let text) = ageField { remarks.append(Remark(.invalidAge, .age, text)) }
    if case .invalid(let text) = exchange.date { remarks.append(Remark(.invalidDate, .date, text)) }
    let ahead = exchange.dateValue.saturatingSubtracting(exchange.responseTime)
    if ahead > 0 { remarks.append(Remark(.originClockAhead, .date, seconds: ahead)) }
    if sinceReceipt < 0 {
      let back = Int64(0).saturatingSubtracting(sinceReceipt)
      remarks.append(Remark(.clockSetBack, nil, seconds: back))
    }
    return remarks
  }

  /// How long the response has been in this cache: `resident_time`.
  public var residentTime: Int64 { max(0, sinceReceipt) }

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
