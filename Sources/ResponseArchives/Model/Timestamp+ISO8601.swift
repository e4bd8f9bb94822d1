import Bytes

extension Timestamp {
  /// Reads a date and time as programs write it by ISO 8601: `2026-01-31T12:00:00.123+01:00`.
  ///
  /// A blank for the `T`, a comma for the point, a zone without its colon, and no zone at all, which means
  /// UTC, are taken as well. `nil` if it is none.
  init?(iso8601 text: ByteString) {
    var digits = ISO8601Digits(rest: text.bytes[...])
    guard let year = digits.number(4), digits.takes("-"), let month = digits.number(2),
      digits.takes("-"), let day = digits.number(2), digits.takes("T") || digits.takes(" "),
      let hour = digits.number(2), digits.takes(":"), let minute = digits.number(2),
      digits.takes(":"), let second = digits.number(2)
    else { return nil }
    // A leap second is the one before it.
    let civil = CivilTime(
      year: year, month: month, day: day, hour: hour, minute: minute,
      second: second == 60 ? 59 : second)
    guard let civil else { return nil }
    let fraction = digits.takes(".") || digits.takes(",") ? digits.fraction() : 0
    guard let fraction, let zone = digits.zone(), digits.rest.isEmpty else { return nil }
    self.init(secondsSince1970: Double(civil.secondsSince1970 - zone) + fraction)
  }
}

/// What is left of a date and time.
private struct ISO8601Digits {
  var rest: ArraySlice<UInt8>

  mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: scalar) else { return false }
    rest.removeFirst()
    return true
  }

  /// A number of exactly so many digits.
  mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// The digits after the point; those beyond the ninth do not count.
  mutating func fraction() -> Double? {
    let digits = rest.prefix { 0x30...0x39 ~= $0 }
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    return Double("0." + String(decoding: digits.prefix(9), as: UTF8.self))
  }

  /// How far the zone is before UTC, in seconds.
  mutating func zone() -> Int64? {
    if rest.isEmpty || takes("Z") { return 0 }
    let sign: Int64
    if takes("+") { sign = 1 } else if takes("-") { sign = -1 } else { return nil }
    guard let hours = number(2), hours < 24 else { return nil }
    _ = takes(":")
    guard let minutes = rest.isEmpty ? 0 : number(2), minutes < 60 else { return nil }
    return sign * (hours * 3_600 + minutes * 60)
  }
}
