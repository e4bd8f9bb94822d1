import Bytes

extension Timestamp {
  /// Creates a timestamp from a WARC date in the W3C profile of ISO 8601 (ISO 28500:2017, section 5.4): `2024`,
  /// `2024-02`, `2024-02-03`, `2024-02-03T04:05Z`, or `2024-02-03T04:05:06Z` with up to nine fractional digits; `nil` if
  /// it is invalid.
  init?(warcDate text: ByteString) {
    // A shortened date means the first second of its period.
    let first = Array("0000-01-01T00:00:00Z".utf8)
    let isCut = [4, 7, 10].contains(text.bytes.count)
    var text = isCut ? text.bytes + first[text.bytes.count...] : text.bytes
    if text.count == 17, text.last == UInt8(ascii: "Z") {
      text.replaceSubrange(16..., with: first[16...])
    }
    self.init(iso8601: text, .w3c)
  }

  /// The date in the format of WARC 1.1, in UTC, with microseconds unless it is a whole second.
  var warcDate: [UInt8] {
    let fraction = secondsSince1970 - Double(wholeSeconds)
    // Rounding up to a whole second would need a carry into minutes, hours and days. A microsecond
    // less is within the precision of the stored time.
    let microseconds = min(Int64((fraction * 1e6).rounded()), 999_999)
    var text: [UInt8] = []
    text.append(CivilTime(self))
    if microseconds > 0 {
      text.append(UInt8(ascii: "."))
      text.append(6, digitsOf: microseconds)
    }
    return text + [UInt8(ascii: "Z")]
  }

  /// The date as 14 digits, without fractions of a second, as in CDXJ indexes.
  var warcDigits: [UInt8] {
    let time = CivilTime(self)
    var text: [UInt8] = []
    text.append(4, digitsOf: time.year)
    for part in [time.month, time.day, time.hour, time.minute, time.second] {
      text.append(2, digitsOf: part)
    }
    return text
  }
}
