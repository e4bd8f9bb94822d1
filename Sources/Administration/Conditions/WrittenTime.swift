public import Bytes
import Files

/// A moment as people write it: RFC 3339, or a day, which means its first second here.
public struct WrittenTime: Hashable, Sendable {
  /// The moment.
  public let time: Timestamp
  /// What to tell the user about it, if it was given as a day of the system's time zone.
  public let note: String?

  /// Reads a moment.
  public init(_ text: String) throws(WrittenValueError) {
    let failure = WrittenValueError(
      text, "is not a time",
      hint: "write a day ('2026-01-31', from midnight here) or RFC 3339 ('2026-01-31T12:00:00Z',"
        + " '2026-01-31T12:00:00+01:00')")
    var digits = Digits(Array(text.utf8))
    guard let year = digits.number(4), digits.take("-"), let month = digits.number(2),
      digits.take("-"), let day = digits.number(2),
      CivilTime(year: year, month: month, day: day) != nil
    else { throw failure }
    if digits.isAtEnd {
      guard let midnight = LocalTime.midnight(year: year, month: month, day: day),
        let time = Timestamp(secondsSince1970: Double(midnight.seconds))
      else { throw failure }
      self.time = time
      note = "\(text) is taken as \(text)T00:00:00\(Self.zone(midnight.offset))"
      return
    }
    guard digits.take("T") || digits.take("t") || digits.take(" "), let hour = digits.number(2),
      digits.take(":"), let minute = digits.number(2), digits.take(":"),
      let second = digits.number(2),
      let civil = CivilTime(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second),
      let fraction = digits.fraction(), let offset = digits.offset(), digits.isAtEnd,
      let time = Timestamp(secondsSince1970: Double(civil.secondsSince1970 - offset) + fraction)
    else { throw failure }
    self.time = time
    note = nil
  }

  /// The moment that a text gives with day and time; a day alone would be a moment that nobody meant.
  static func moment(_ text: ByteString) -> Timestamp? {
    guard text.bytes.count > 10, let text = text.string else { return nil }
    return try? WrittenTime(text).time
  }

  /// An offset from UTC, in seconds, as RFC 3339 writes it.
  private static func zone(_ offset: Int64) -> String {
    func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
  }
}

/// The bytes of a moment that were not read yet.
private struct Digits {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Takes a character, if it is the next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first.map({ UInt32($0) == character.value }) ?? false else { return false }
    rest.removeFirst()
    return true
  }

  /// Takes a number of so many digits.
  mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  /// Takes what may follow the seconds, of a second.
  mutating func fraction() -> Double? {
    guard take(".") else { return 0 }
    let digits = rest.prefix(while: Self.isDigit)
    guard !digits.isEmpty, digits.count <= 18 else { return nil }
    rest = rest.dropFirst(digits.count)
    var (fraction, scale) = (0.0, 0.1)
    for digit in digits {
      fraction += Double(digit - UInt8(ascii: "0")) * scale
      scale /= 10
    }
    return fraction
  }

  /// Takes an offset from UTC, in seconds.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let isWest = take("-")
    guard isWest || take("+"), let hours = number(2), hours < 24, take(":"),
      let minutes = number(2), minutes < 60
    else { return nil }
    return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
