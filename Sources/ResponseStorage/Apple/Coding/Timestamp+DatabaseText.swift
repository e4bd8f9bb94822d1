import Bytes

extension Timestamp {
  /// Creates a moment from `YYYY-MM-DD HH:MM:SS` in UTC, which is how SQLite writes
  /// `CURRENT_TIMESTAMP`; `nil` for anything else.
  init?(databaseText text: Span<UInt8>) {
    guard text.count == 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: " "), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      let year = Self.number(text, 0..<4), let month = Self.number(text, 5..<7),
      let day = Self.number(text, 8..<10), let hour = Self.number(text, 11..<13),
      let minute = Self.number(text, 14..<16), let second = Self.number(text, 17..<19),
      let time = CivilTime(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970))
  }

  /// The number that some digits of a text are; `nil` if they are none.
  private static func number(_ text: Span<UInt8>, _ digits: Range<Int>) -> Int64? {
    var value: Int64 = 0
    for index in digits {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ Int64(digit)
    }
    return value
  }
}
