extension Sequence<UInt8> {
  /// The bytes, those that may not stand there percent-escaped with capital digits (RFC 3986 §2.1).
  ///
  /// - Parameter mayStand: Whether a byte stays as it is.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  @inlinable
  public func percentEscaped(unless mayStand: (UInt8) -> Bool) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(underestimatedCount)
    for byte in self {
      if mayStand(byte) {
        result.append(byte)
      } else {
        // An array for each byte would cost more than all else that is done with a URL.
        result.append(UInt8(ascii: "%"))
        result.append(Self.capitalDigit(byte >> 4))
        result.append(Self.capitalDigit(byte & 15))
      }
    }
    return result
  }

  /// The hexadecimal digit of a value below 16.
  @inlinable
  static func capitalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
