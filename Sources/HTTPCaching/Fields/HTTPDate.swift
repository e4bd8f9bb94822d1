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

/// A date in a header field (RFC 9110 §5.6.7).
public enum DateField: Hashable, Sendable {
  /// The message has no such field.
  case absent

  /// A date, in seconds since 1970-01-01 00:00:00 UTC.
  case date(Int64)

  /// A value that is not a date, verbatim.
  case invalid([UInt8])

  /// Reads the first line of a field (RFC 9111 §4.2.1).
  ///
  /// - Parameter now: The moment that resolves years of two digits, in seconds since 1970.
  public init(_ name: FieldName, in fields: FieldSection, now: Int64) {
    // The first of two `Expires` is one of the two choices that RFC 9111 §4.2.1 leaves; the other
    // is to call the response stale.
    guard let value = fields.firstValue(of: name) else {
      self = .absent
      return
    }
    self.init(value.span, now: now)
  }

  /// Reads a line without surrounding white space.
  init(_ value: Span<UInt8>, now: Int64) {
    self =
      HTTPDate.secondsSince1970(value, now: now).map { .date($0) }
      ?? .invalid(Array(copying: value))
  }

  /// The date in seconds since 1970, or `nil` if the field is absent or invalid (RFC 9110 §5.6.7).
  public var secondsSince1970: Int64? {
    guard case .date(let seconds) = self else { return nil }
    return seconds
  }
}

extension HTTPDate {
  static let longDays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ].map { Array($0.utf8) }

  /// The text after the name of the day in `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. `0` matches
  /// a digit, `*` any byte, and a letter itself in either case.
  static let shortYearForm = Array(", 00-***-00 00:00:00 gmt".utf8)
  static let plainForm = Array(" *** *0 00:00:00 0000".utf8)

  /// Whether the text has the form `Sun, 06 Nov 1994 08:49:37 GMT`, except for the names of day and month.
  ///
  /// Nearly all dates have this form, so it is checked byte by byte, without a pattern.
  static func hasFixedForm(_ text: Span<UInt8>) -> Bool {
    func isDigit(_ index: Int) -> Bool { text[index].isASCIIDigit }
    func isSpace(_ index: Int) -> Bool { text[index] == UInt8(ascii: " ") }
    func isColon(_ index: Int) -> Bool { text[index] == UInt8(ascii: ":") }
    guard text.count == 29, text[3] == UInt8(ascii: ",") else { return false }
    return isSpace(4) && isDigit(5) && isDigit(6) && isSpace(7) && isSpace(11)
      && isDigit(12) && isDigit(13) && isDigit(14) && isDigit(15) && isSpace(16)
      && isDigit(17) && isDigit(18) && isColon(19) && isDigit(20) && isDigit(21) && isColon(22)
      // The zone is always GMT (RFC 9110 §5.6.7). `UTC` and `+0000` make the date invalid, as RFC
      // 9111 §4.2 recommends.
      && isDigit(23) && isDigit(24) && isSpace(25) && letters(text, at: 26) == code("g", "m", "t")
  }

  /// Whether the text from an index on matches a pattern.
  static func fits(_ text: Span<UInt8>, _ start: Int, _ form: [UInt8]) -> Bool {
    guard text.count - start == form.count else { return false }
    let (text, form) = (text.extracting(droppingFirst: start), form.span)
    for index in form.indices {
      let byte = text[index]
      switch form[index] {
      case UInt8(ascii: "0"): if !byte.isASCIIDigit { return false }
      case UInt8(ascii: "*"): continue
      case let expected: if byte.asciiLowercased != expected { return false }
      }
    }
    return true
  }

  /// The value of two digits.
  @inline(__always)
  static func twoDigits(_ text: Span<UInt8>, _ start: Int) -> Int64 {
    // The caller has checked that both bytes are digits, so nothing can overflow.
    Int64(text[start] &- UInt8(ascii: "0")) &* 10 &+ Int64(text[start &+ 1] &- UInt8(ascii: "0"))
  }

  /// The value of four digits.
  @inline(__always)
  static func fourDigits(_ text: Span<UInt8>, _ start: Int) -> Int64 {
    twoDigits(text, start) &* 100 &+ twoDigits(text, start &+ 2)
  }

  /// The day of the week at the beginning of the text; 0 is Monday.
  @inline(__always)
  static func shortDay(_ text: Span<UInt8>) -> Int? {
    let letters = letters(text, at: 0)
    let found = shortDay(at: (letters &* spread) >> 11 & 7)
    return found >> 8 == letters ? Int(found & 0xFF) - 1 : nil
  }

  /// The month at an index; 1 is January.
  @inline(__always)
  static func month(_ text: Span<UInt8>, at position: Int) -> Int? {
    let letters = letters(text, at: position)
    let found = month(at: (letters &* spread) >> 7 & 15)
    return found >> 8 == letters ? Int(found & 0xFF) : nil
  }

  /// A multiplier, found by trial, that hashes each name to its own index without branches. Names are unpredictable,
  /// and one mispredicted branch costs more than the rest of a date.
  private static let spread: UInt32 = 111

  // The compiler turns each `switch` into a table without reference counts, unlike an array.
  @inline(__always)
  private static func shortDay(at place: UInt32) -> UInt32 {
    switch place {
    case 0: name("s", "a", "t", 6)
    case 1: name("t", "h", "u", 4)
    case 2: name("m", "o", "n", 1)
    case 3: name("f", "r", "i", 5)
    case 4: name("t", "u", "e", 2)
    case 5: name("s", "u", "n", 7)
    case 6: name("w", "e", "d", 3)
    default: 0
    }
  }

  @inline(__always)
  private static func month(at place: UInt32) -> UInt32 {
    switch place {
    case 0: name("m", "a", "r", 3)
    case 2: name("a", "p", "r", 4)
    case 3: name("j", "u", "l", 7)
    case 5: name("j", "u", "n", 6)
    case 6: name("m", "a", "y", 5)
    case 7: name("s", "e", "p", 9)
    case 8: name("n", "o", "v", 11)
    case 10: name("f", "e", "b", 2)
    case 11: name("d", "e", "c", 12)
    case 13: name("j", "a", "n", 1)
    case 14: name("o", "c", "t", 10)
    case 15: name("a", "u", "g", 8)
    default: 0
    }
  }

  /// The letters of a name and its number, in one word.
  @inline(__always)
  private static func name(
    _ first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar, _ number: UInt32
  ) -> UInt32 {
    code(first, second, third) << 8 | number
  }

  /// Three letters of the text in one word, ignoring case.
  @inline(__always)
  private static func letters(_ text: Span<UInt8>, at position: Int) -> UInt32 {
    // Setting this bit turns capitals into lowercase, and no other byte into a letter.
    return UInt32(text[position]) << 16 | UInt32(text[position + 1]) << 8
      | UInt32(text[position + 2]) | 0x20_2020
  }

  /// Three letters in one word, computed at compile time.
  @inline(__always)
  private static func code(
    _ first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar
  ) -> UInt32 {
    first.value << 16 | second.value << 8 | third.value
  }

  /// The second of the day of a time such as `08:49:37`, or `nil` if it is invalid.
  @inline(__always)
  static func secondOfDay(_ text: Span<UInt8>, at position: Int) -> Int64? {
    let hour = twoDigits(text, position)
    let minute = twoDigits(text, position + 3)
    let second = twoDigits(text, position + 6)
    // A leap second is read as the first second of the next minute.
    // The last time of a day in the grammar is 23:59:60 (RFC 9110 §5.6.7), so `24:00:00` is
    // invalid. Seconds since 1970 do not count leap seconds, so any reading of a second 60 is a
    // choice.
    guard hour < 24, minute < 60, second <= 60 else { return nil }
    return hour * 3_600 + minute * 60 + second
  }
}
