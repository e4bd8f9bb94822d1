import Bytes

/// Dates in HTTP header fields (RFC 9110 §5.6.7).
public enum HTTPDate {
  /// Parses a date in one of the three formats that a recipient must accept (RFC 9110 §5.6.7), ignoring case (RFC 9111
  /// §4.2): `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
  ///
  /// The name of the day must be valid but may be wrong. A second of 60 is a leap second: it is read as the second
  /// after it, on any day and at any minute. Any other deviation makes the date invalid.
  ///
  /// - Parameters:
  ///   - text: The bytes of the field value, without surrounding white space.
  ///   - now: The moment that resolves a year of two digits, in seconds since 1970-01-01 00:00:00 UTC: the date is the
  ///     latest match that is at most 50 calendar years in the future. Outside the years 1 to 9999, such a date is
  ///     invalid.
  /// - Returns: Seconds since 1970-01-01 00:00:00 UTC, or `nil` if the date is invalid.
  public static func secondsSince1970(_ text: [UInt8], now: Int64) -> Int64? {
    secondsSince1970(text.span, now: now)
  }

  /// Parses a date from a span, like ``secondsSince1970(_:now:)``.
  static func secondsSince1970(_ text: Span<UInt8>, now: Int64) -> Int64? {
    form(of: text)?.secondsSince1970(now: now)
  }

  /// Whether a date names the wrong day of the week (RFC 9110 §5.6.7), which ``secondsSince1970(_:now:)`` accepts;
  /// `nil` if the date is invalid.
  public static func namesWrongDay(_ text: [UInt8], now: Int64) -> Bool? {
    secondsSince1970(text, now: now).map { namesWrongDay(text, for: $0) }
  }

  /// Whether a date names the wrong day of the week for the seconds that it was parsed to.
  static func namesWrongDay(_ text: [UInt8], for seconds: Int64) -> Bool {
    shortDay(text.span) != CivilCalendar.weekday(ofSecond: seconds)
  }

  /// The parts of a date, before it is known whether the day exists.
  private struct Form {
    /// The year; only two digits if `isShortYear`.
    var year: Int64
    var isShortYear = false
    var month: Int
    var day: Int64
    var secondOfDay: Int64

    func secondsSince1970(now: Int64) -> Int64? {
      guard isShortYear else {
        return days(year).map { $0 * CivilCalendar.secondsInDay + secondOfDay }
      }
      let years = CivilCalendar.seconds
      // A stored time can be anything that a hostile cache contains, and the arithmetic below is
      // exact in these years only.
      guard years.contains(now) else { return nil }
      // 400 years have 146,097 days.
      // The rule of 50 years is that of RFC 9110 §5.6.7. Many programs have a fixed limit instead,
      // such as 1970 to 2069.
      let century = (now - years.lowerBound) / (146_097 * CivilCalendar.secondsInDay / 4) * 100
      // Only one in four years that end in 00 has a 29 February, so a match may be 400 years back.
      // Begin in the next century, because a date may be up to 50 years in the future.
      for full in stride(from: century + 100 + year, through: century - 300 + year, by: -100) {
        // If there is no such day 50 years earlier (29 February), the next day, 1 March, stands in for it.
        guard let date = days(full), let before = days(full - 50) ?? Self.march(full - 50) else {
          continue
        }
        if before * CivilCalendar.secondsInDay + secondOfDay <= now {
          return date * CivilCalendar.secondsInDay + secondOfDay
        }
      }
      return nil
    }

    private static func march(_ year: Int64) -> Int64? {
      CivilCalendar.daysSince1970(year: year, month: 3, day: 1)
    }

    private func days(_ year: Int64) -> Int64? {
      CivilCalendar.daysSince1970(year: year, month: Int64(month), day: day)
    }
  }

  private static func form(of text: Span<UInt8>) -> Form? {
    switch text.count {
    // The length alone tells the three forms apart, so at most one of them is tried.
    case 29:
      // Sun, 06 Nov 1994 08:49:37 GMT
      guard hasFixedForm(text), shortDay(text) != nil, let month = month(text, at: 8),
        let time = secondOfDay(text, at: 17)
      else { return nil }
      return Form(
        year: fourDigits(text, 12), month: month, day: twoDigits(text, 5), secondOfDay: time)
    case 24:
      // Sun Nov  6 08:49:37 1994
      // The day is padded with a space in this format.
      guard fits(text, 3, plainForm), shortDay(text) != nil,
        let month = month(text, at: 4), let time = secondOfDay(text, at: 11),
        text[8].isASCIIDigit || text[8] == UInt8(ascii: " ")
      else { return nil }
      let ones = Int64(text[9] - UInt8(ascii: "0"))
      let day = text[8].isASCIIDigit ? twoDigits(text, 8) : ones
      return Form(year: fourDigits(text, 20), month: month, day: day, secondOfDay: time)
    // The names of the days have six to nine letters.
    case 30...33:
      // Sunday, 06-Nov-94 08:49:37 GMT
      let comma = text.count - 24
      guard fits(text, comma, shortYearForm),
        longDays.contains(where: { text.extracting(first: comma).equalsIgnoringCase($0) }),
        let month = month(text, at: comma + 5), let time = secondOfDay(text, at: comma + 12)
      else { return nil }
      return Form(
        year: twoDigits(text, comma + 9), isShortYear: true, month: month,
        day: twoDigits(text, comma + 2), secondOfDay: time)
    default: return nil
    }
  }
}
