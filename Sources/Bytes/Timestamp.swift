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
