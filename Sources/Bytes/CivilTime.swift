/// A date of the proleptic Gregorian calendar and a time of day, in UTC.
@frozen
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

  /// Creates a date and time, or `nil` if there is no such date or time of day. Leap seconds are not supported.
  @inlinable
  public init?(
    year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0
  ) {
    guard year <= 9999, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second,
      CivilCalendar.daysSince1970(year: year, month: month, day: day) != nil
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// Creates the date and time of a moment, truncated to seconds.
  public init(_ moment: Timestamp) {
    // Calculated here, as `gmtime_r` of glibc takes a lock, and a list formats a time for
    // each row.
    let days = moment.wholeSeconds.flooredQuotient(by: CivilCalendar.secondsInDay)
    let seconds = moment.wholeSeconds - days * CivilCalendar.secondsInDay
    (year, month, day) = CivilCalendar.date(ofDay: days)
    hour = seconds / 3_600
    minute = seconds / 60 % 60
    second = seconds % 60
  }

  /// The seconds since 1970-01-01 00:00:00 UTC.
  @inlinable
  public var secondsSince1970: Int64 {
    CivilCalendar.days(year, month, day) * CivilCalendar.secondsInDay + hour * 3_600 + minute * 60
      + second
  }
}

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

/// A moment, in seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
///
/// The number is always finite and in the years 1 to 9999.
@frozen
public struct Timestamp: Hashable, Comparable, Sendable {
  /// The seconds since 1970-01-01 00:00:00 UTC.
  public let secondsSince1970: Double

  /// Creates a moment, or `nil` if it is not in the years 1 to 9999.
  @inlinable
  public init?(secondsSince1970: Double) {
    let years = CivilCalendar.seconds
    // NaN is rejected too: it fails every comparison.
    // A hostile property list can have any `Double` as a date. Foundation on Linux traps when it
    // prints a `Date` of NaN, and its formatters print nonsense from about 10¹³ on.
    guard secondsSince1970 >= Double(years.lowerBound), secondsSince1970 < Double(years.upperBound)
    else { return nil }
    self.secondsSince1970 = secondsSince1970
  }

  /// 1970-01-01 00:00:00 UTC.
  public static let epoch = Timestamp(ofWholeSeconds: 0)

  /// The first moment of the year 1.
  public static let earliest = Timestamp(ofWholeSeconds: Double(CivilCalendar.seconds.lowerBound))

  private init(ofWholeSeconds seconds: Double) {
    secondsSince1970 = seconds
  }

  /// Creates the time of a file from nanoseconds since 1970, which always lie in the years 1677 to 2262.
  public init(nanosecondsSince1970 nanoseconds: Int64) {
    secondsSince1970 = Double(nanoseconds) / 1e9
  }

  /// Creates a moment from seconds since 2001-01-01 00:00:00 UTC (`CFAbsoluteTime`), or `nil` if it is not in the years
  /// 1 to 9999.
  @inlinable
  public init?(secondsSince2001: Double) {
    self.init(secondsSince1970: secondsSince2001 + Self.secondsFrom1970To2001)
  }

  /// The seconds since 2001-01-01 00:00:00 UTC.
  @inlinable
  public var secondsSince2001: Double { secondsSince1970 - Self.secondsFrom1970To2001 }

  /// The seconds since 1970-01-01 00:00:00 UTC, rounded down.
  // Rounded down and not towards zero, or two seconds around 1970 would be one.
  @inlinable
  public var wholeSeconds: Int64 { Int64(secondsSince1970.rounded(.down)) }

  @inlinable
  static var secondsFrom1970To2001: Double { 978_307_200 }

  @inlinable
  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.secondsSince1970 < rhs.secondsSince1970
  }
}

extension Array<UInt8> {
  /// Appends a time in RFC 3339 format, in UTC, truncated to seconds: `2026-01-31T12:34:56Z`.
  public mutating func append(rfc3339 moment: Timestamp) {
    let time = CivilTime(moment)
    append(addingCapacity: 20) { (output: inout OutputSpan<UInt8>) in
      output.append(time, separator: UInt8(ascii: "T"))
      output.append(UInt8(ascii: "Z"))
    }
  }

  /// Appends a date and time without a zone: `2026-01-31T12:34:56`.
  public mutating func append(_ time: CivilTime, separator: UInt8 = UInt8(ascii: "T")) {
    append(addingCapacity: 19) { (output: inout OutputSpan<UInt8>) in
      output.append(time, separator: separator)
    }
  }

  /// Appends the last `digits` digits of a number, which must not be negative, with leading zeros.
  public mutating func append(_ digits: Int, digitsOf number: Int64) {
    if digits > 1 { append(digits - 1, digitsOf: number / 10) }
    append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(_ time: CivilTime, separator: UInt8) {
    append(twoDigitsOf: UInt64(time.year / 100))
    append(twoDigitsOf: UInt64(time.year))
    append(UInt8(ascii: "-"))
    append(twoDigitsOf: UInt64(time.month))
    append(UInt8(ascii: "-"))
    append(twoDigitsOf: UInt64(time.day))
    append(separator)
    append(twoDigitsOf: UInt64(time.hour))
    append(UInt8(ascii: ":"))
    append(twoDigitsOf: UInt64(time.minute))
    append(UInt8(ascii: ":"))
    append(twoDigitsOf: UInt64(time.second))
  }
}
