import Bytes

extension Timestamp {
  /// Reads a date of WARC, in the profile of ISO 8601 of W3C: `2024`, `2024-02`, `2024-02-03`, or
  /// `2024-02-03T04:05:06Z` with up to nine digits of a second; `nil` if it is none.
  init?(warcDate text: ByteString) {
    // A date that leaves parts out means the first second of what it names.
    let first = Array("0000-01-01T00:00:00Z".utf8)
    let isCut = [4, 7, 10].contains(text.bytes.count)
    self.init(iso8601: isCut ? text.bytes + first[text.bytes.count...] : text.bytes, .w3c)
  }

  /// The date as WARC 1.1 has it, in UTC: with microseconds, if it is not a whole second.
  var warcDate: [UInt8] {
    let fraction = secondsSince1970 - Double(wholeSeconds)
    let microseconds = min(Int64((fraction * 1e6).rounded()), 999_999)
    var text: [UInt8] = []
    text.append(CivilTime(self))
    if microseconds > 0 {
      text.append(UInt8(ascii: "."))
      text.append(6, digitsOf: microseconds)
    }
    return text + [UInt8(ascii: "Z")]
  }

  /// The 14 digits of the date without its fraction of a second, as indexes of WARC files have it.
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
