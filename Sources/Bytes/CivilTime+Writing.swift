extension Array<UInt8> {
  /// Appends a time in RFC 3339 format, in UTC, truncated to seconds: `2026-01-31T12:34:56Z`.
  public mutating func append(rfc3339 moment: Timestamp) {
    let time = CivilTime(moment)
    append(addingCapacity: 20) { (output: inout OutputSpan<UInt8>) in
      output.append(time, separator: UInt8(ascii: "T"))
      output.append(UInt8(ascii: "Z"))
    }
  }

  /// Appends a date and time without a zone: `2026-01-31T12:34:56`.
  public mutating func append(_ time: CivilTime, separator: UInt8 = UInt8(ascii: "T")) {
    append(addingCapacity: 19) { (output: inout OutputSpan<UInt8>) in
      output.append(time, separator: separator)
    }
  }

  /// Appends the last `digits` digits of a number, which must not be negative, with leading zeros.
  public mutating func append(_ digits: Int, digitsOf number: Int64) {
    if digits > 1 { append(digits - 1, digitsOf: number / 10) }
    append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(_ time: CivilTime, separator: UInt8) {
    append(twoDigitsOf: UInt64(time.year / 100))
    append(twoDigitsOf: UInt64(time.year))
    append(UInt8(ascii: "-"))
    append(twoDigitsOf: UInt64(time.month))
    append(UInt8(ascii: "-"))
    append(twoDigitsOf: UInt64(time.day))
    append(separator)
    append(twoDigitsOf: UInt64(time.hour))
    append(UInt8(ascii: ":"))
    append(twoDigitsOf: UInt64(time.minute))
    append(UInt8(ascii: ":"))
    append(twoDigitsOf: UInt64(time.second))
  }
}
