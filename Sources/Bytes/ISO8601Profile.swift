/// The variants of ISO 8601 dates and times that one kind of text uses.
///
/// All profiles begin with `2026-01-31T12:34:56`.
public struct ISO8601Profile: Sendable {
  /// The accepted forms of the time zone.
  enum Zone {
    /// `Z` only.
    case utc
    /// `Z` or `+01:00`.
    case offset
    /// `Z`, `+01:00`, `+0100`, `+01`, or nothing, which means UTC.
    case anything
  }

  /// Whether `t` and `z` are accepted for `T` and `Z`.
  var hasSmallLetters = false
  /// Whether a space is accepted for `T`.
  var hasSpace = false
  /// Whether a comma is accepted for the point before the fraction of a second.
  var hasComma = false
  /// The maximum number of digits in the fraction of a second.
  var mostDigits = Int.max
  /// Whether a second of 60 is accepted; it is read as 59.
  var hasLeapSeconds = false
  var zone = Zone.offset

  /// Dates that people write (RFC 3339 §5.6).
  public static let rfc3339 = ISO8601Profile(hasSmallLetters: true, hasSpace: true, mostDigits: 18)

  /// Dates that programs write: a comma may replace the point, and the zone may lack its colon or be absent, which
  /// means UTC.
  public static let programs = ISO8601Profile(
    hasSpace: true, hasComma: true, hasLeapSeconds: true, zone: .anything)

  /// Complete dates in UTC, in the W3C profile that WARC 1.1 uses.
  public static let w3c = ISO8601Profile(mostDigits: 9, hasLeapSeconds: true, zone: .utc)
}

extension Timestamp {
  /// Reads an ISO 8601 date and time; `nil` if it does not fit the profile.
  ///
  /// Digits of the fraction of a second after the ninth are ignored.
  public init?(iso8601 text: [UInt8], _ profile: ISO8601Profile) {
    // Only the loosest profile accepts a date without a zone.
    guard text.count > 19 || text.count == 19 && profile.zone == .anything else { return nil }
    switch text[10] {
    case UInt8(ascii: "T"): break
    case UInt8(ascii: " ") where profile.hasSpace: break
    case UInt8(ascii: "t") where profile.hasSmallLetters: break
    default: return nil
    }
    var end = ISO8601End(rest: text[19...])
    guard
      let time = CivilTime(
        text.span.extracting(first: 19), separator: text[10],
        hasLeapSeconds: profile.hasLeapSeconds),
      let fraction = end.fraction(profile), let offset = end.offset(profile), end.rest.isEmpty
    else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970 - offset) + fraction)
  }
}

extension CivilTime {
  /// Reads `2026-01-31` or, with the separator `T`, `2026-01-31T12:34:56`; `nil` for anything else.
  ///
  /// - Parameters:
  ///   - separator: The byte between the date and the time of day; `nil` for a date alone.
  ///   - hasLeapSeconds: Whether a second of 60 is accepted; it is read as 59.
  @inlinable
  public init?(_ text: Span<UInt8>, separator: UInt8? = nil, hasLeapSeconds: Bool = false) {
    guard text.count == (separator == nil ? 10 : 19), text[4] == UInt8(ascii: "-"),
      text[7] == UInt8(ascii: "-"), let year = Self.number(text, 0..<4),
      let month = Self.number(text, 5..<7), let day = Self.number(text, 8..<10)
    else { return nil }
    guard let separator else {
      self.init(year: year, month: month, day: day)
      return
    }
    guard text[10] == separator, text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      let hour = Self.number(text, 11..<13), let minute = Self.number(text, 14..<16),
      let second = Self.number(text, 17..<19)
    else { return nil }
    self.init(
      year: year, month: month, day: day, hour: hour, minute: minute,
      // 59 keeps a leap second within its day.
      second: hasLeapSeconds && second == 60 ? 59 : second)
  }

  /// The number that a range of decimal digits forms; `nil` if a byte is not a digit.
  // Every row of a store has such a time. Inlined, it takes a third of the time.
  @inlinable
  @inline(__always)
  static func number(_ text: Span<UInt8>, _ digits: Range<Int>) -> Int64? {
    var value: Int64 = 0
    for index in digits {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ Int64(digit)
    }
    return value
  }
}

/// The rest of a date and time after the seconds.
private struct ISO8601End {
  var rest: ArraySlice<UInt8>

  /// Reads the fraction of a second; 0 if there is none, `nil` if it has no digits or too many.
  mutating func fraction(_ profile: ISO8601Profile) -> Double? {
    guard consume(".") || profile.hasComma && consume(",") else { return 0 }
    let digits = rest.prefix(while: \.isASCIIDigit)
    guard !digits.isEmpty, digits.count <= profile.mostDigits else { return nil }
    rest = rest.dropFirst(digits.count)
    var (number, scale) = (0.0, 1.0)
    // Nine digits are nanoseconds, which a `Double` of seconds since 1970 does not even hold.
    for digit in digits.prefix(9) {
      number = number * 10 + Double(digit - 0x30)
      scale *= 10
    }
    return number / scale
  }

  /// Reads the zone and returns its offset from UTC in seconds, positive to the east; `nil` if it does not fit the
  /// profile.
  mutating func offset(_ profile: ISO8601Profile) -> Int64? {
    if consume("Z") || profile.hasSmallLetters && consume("z") { return 0 }
    if profile.zone == .utc { return nil }
    let isLoose = profile.zone == .anything
    if rest.isEmpty { return isLoose ? 0 : nil }
    let isWest = consume("-")
    // RFC 3339 §5.6 limits an offset like a time of day.
    guard isWest || consume("+"), let hours = twoDigits(), hours < 24, consume(":") || isLoose,
      let minutes = rest.isEmpty && isLoose ? 0 : twoDigits(), minutes < 60
    else { return nil }
    return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
  }

  private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: scalar) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func twoDigits() -> Int64? {
    let digits = rest.prefix(2)
    guard digits.count == 2, digits.allSatisfy(\.isASCIIDigit) else { return nil }
    rest = rest.dropFirst(2)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }
}
