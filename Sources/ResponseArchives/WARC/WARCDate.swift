import Bytes

extension Timestamp {
  /// Reads a date of WARC, in the profile of ISO 8601 of W3C: `2024`, `2024-02`, `2024-02-03`, or
  /// `2024-02-03T04:05:06Z` with up to nine digits of a second; `nil` if it is none.
  init?(warcDate text: ByteString) {
    var parts: [Int64] = []
    var rest = text.bytes[...]
    for (index, width) in [4, 2, 2, 2, 2, 2].enumerated() {
      guard let number = Int64(digits: rest.prefix(width)), rest.count >= width else { return nil }
      parts.append(number)
      rest = rest.dropFirst(width)
      if index == 5 || rest.isEmpty { break }
      guard rest.first == Array("--T::".utf8)[index] else { return nil }
      rest = rest.dropFirst()
    }
    var fraction = 0.0
    if parts.count == 6, rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix { 0x30...0x39 ~= $0 }
      guard 1...9 ~= digits.count,
        let value = Double("0.\(String(decoding: digits, as: UTF8.self))")
      else { return nil }
      fraction = value
      rest = rest.dropFirst(1 + digits.count)
    }
    if parts.count >= 5 {
      guard rest.elementsEqual("Z".utf8) else { return nil }
      rest = []
    }
    guard rest.isEmpty, parts.count != 4 else { return nil }
    parts += [0, 1, 1, 0, 0, 0].dropFirst(parts.count)
    guard
      let time = CivilTime(
        year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
        // A leap second is the one before it.
        second: min(parts[5], 59)), parts[5] <= 60
    else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970) + fraction)
  }

  /// The date as WARC 1.1 has it, in UTC: with microseconds, if it is not a whole second.
  var warcDate: [UInt8] {
    let fraction = secondsSince1970 - Double(wholeSeconds)
    let microseconds = min(Int64((fraction * 1e6).rounded()), 999_999)
    let digits = warcDigits
    var text: [UInt8] = []
    for (index, digit) in digits.enumerated() {
      switch index {
      case 4, 6: text.append(UInt8(ascii: "-"))
      case 8: text.append(UInt8(ascii: "T"))
      case 10, 12: text.append(UInt8(ascii: ":"))
      default: break
      }
      text.append(digit)
    }
    if microseconds > 0 { text += [UInt8(ascii: ".")] + Self.digits(microseconds, 6) }
    return text + [UInt8(ascii: "Z")]
  }

  /// The 14 digits of the date without its fraction of a second, as indexes of WARC files have it.
  var warcDigits: [UInt8] {
    let time = CivilTime(self)
    return Self.digits(time.year, 4)
      + [time.month, time.day, time.hour, time.minute, time.second].flatMap { Self.digits($0, 2) }
  }

  private static func digits(_ number: Int64, _ width: Int) -> [UInt8] {
    let text = Array(String(number).utf8)
    return Array(repeating: 0x30, count: max(0, width - text.count)) + text
  }
}
