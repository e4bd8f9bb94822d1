/// A date of the proleptic Gregorian calendar with the time of day, in UTC.
public struct CivilTime: Hashable, Sendable {
  /// The year, 1 to 9999.
  public let year: Int64
  /// The month, 1 to 12.
  public let month: Int64
  /// The day of the month, from 1.
  public let day: Int64
  /// The hour, 0 to 23.
  public let hour: Int64
  /// The minute, 0 to 59.
  public let minute: Int64
  /// The second, 0 to 59.
  public let second: Int64

  /// Creates a date and time, or `nil` if there is no such day, or no such second of the day (a
  /// leap second is none).
  public init?(
    year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0
  ) {
    guard 1...9999 ~= year, 1...12 ~= month, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second,
      1...Self.days(in: month, of: year) ~= day
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// The date and time of a moment, its fraction of a second cut off.
  public init(_ moment: Timestamp) {
    let days = moment.wholeSeconds.flooredQuotient(by: 86_400)
    let seconds = moment.wholeSeconds - days * 86_400
    // The calendar is counted from 1 March of the year 0, so that a leap day ends its year; an era
    // is the 400 years after which the calendar repeats.
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    hour = seconds / 3_600
    minute = seconds / 60 % 60
    second = seconds % 60
  }

  /// The seconds from 1970-01-01 00:00:00 UTC.
  public var secondsSince1970: Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = shiftedYear.flooredQuotient(by: 400)
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    return days * 86_400 + hour * 3_600 + minute * 60 + second
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
