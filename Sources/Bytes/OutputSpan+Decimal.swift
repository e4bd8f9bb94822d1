extension OutputSpan<UInt8> {
  /// Appends a number in decimal, at most 20 bytes.
  @inlinable
  public mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: value.magnitude)
  }

  /// Appends a number in decimal, at most 20 bytes.
  @inlinable
  public mutating func append(decimal value: UInt64) {
    if value >= 100 { append(decimal: value / 100) }
    if value >= 10 {
      append(twoDigitsOf: value)
    } else {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
    }
  }

  /// Appends the last two digits of a number, with leading zeros.
  @inlinable
  public mutating func append(twoDigitsOf value: UInt64) {
    let value = UInt8(truncatingIfNeeded: value % 100)
    append(UInt8(ascii: "0") + value / 10)
    append(UInt8(ascii: "0") + value % 10)
  }
}
