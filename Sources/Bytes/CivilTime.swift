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
