/// The proleptic Gregorian calendar, with days counted from 1970-01-01.
public enum CivilCalendar {
  /// The seconds from 1970-01-01 00:00:00 UTC of all moments in the years 1 to 9999.
  @inlinable
  public static var seconds: Range<Int64> { -62_135_596_800..<253_402_300_800 }

  /// The seconds in a day, without leap seconds.
  @inlinable
  public static var secondsInDay: Int64 { 86_400 }

  /// The days from 1970-01-01 to a date, or `nil` if there is no such date in the years 1 to 99,999.
  @inlinable
  public static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64? {
    // Every month has 28 days, so most dates need no look at the month.
    // The years beyond 9999 are for dates in two digits, which are first tried in the next century.
    guard 1...99_999 ~= year, 1...12 ~= month, day >= 1,
      day <= 28 || day <= length(ofMonth: month, in: year)
    else { return nil }
    return days(year, month, day)
  }

  /// The days from 1970-01-01 to a valid date of the year 0 or later.
  @inlinable
  static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // A year that begins on 1 March ends with its leap day, which makes the formula regular.
    let years = month > 2 ? year : year - 1
    let monthsFromMarch = month > 2 ? month - 3 : month + 9
    let leapDays = years / 4 - years / 100 + years / 400
    // (153 m + 2) / 5 is the number of days in the m months since March; 0000-03-01 is 719,468 days before 1970.
    return years * 365 + leapDays + (153 * monthsFromMarch + 2) / 5 + day - 1 - 719_468
  }

  /// The date of a day of the year 0 or later.
  @inlinable
  static func date(ofDay daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Years begin on 1 March, as in `days(_:_:_:)`. An era is the 400 years after which the calendar repeats.
    let days = daysSince1970 + 719_468
    // Division in Swift rounds towards zero, which would put the years before 0 into the wrong era.
    let era = days.flooredQuotient(by: 146_097)
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// The day of the week of a moment, given in whole seconds since 1970-01-01 00:00:00 UTC. Monday is 0.
  @inlinable
  public static func weekday(ofSecond seconds: Int64) -> Int {
    // 1 January 1970 was a Thursday.
    let day = seconds.flooredQuotient(by: secondsInDay) + 3
    return Int(day - day.flooredQuotient(by: 7) * 7)
  }

  /// The number of days in a month.
  @inlinable
  static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  /// The quotient rounded down, also for negative numbers.
  @inlinable
  func flooredQuotient(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
