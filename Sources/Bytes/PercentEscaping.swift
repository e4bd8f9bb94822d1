extension Sequence<UInt8> {
  /// The bytes, those that may not stand there percent-escaped (RFC 3986 §2.1).
  ///
  /// - Parameters:
  ///   - letters: How the digits of the escapes are written; RFC 3986 recommends capitals.
  ///   - mayStand: Whether a byte stays as it is.
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  @inlinable
  public func percentEscaped(
    _ letters: Base16.Letters = .capital, unless mayStand: (UInt8) -> Bool
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(underestimatedCount)
    for byte in self {
      if mayStand(byte) {
        result.append(byte)
      } else {
        // An array for each byte would cost more than all else that is done with a URL.
        result.append(UInt8(ascii: "%"))
        result.append(Base16.digit(byte >> 4, letters))
        result.append(Base16.digit(byte, letters))
      }
    }
    return result
  }
}

extension ArraySlice<UInt8> {
  /// The bytes, each percent-escape replaced by its byte (RFC 3986 §2.1); a `%` that begins no escape stays.
  ///
  /// - Parameter plusIsSpace: Whether `+` stands for a space, as it does in the queries of HTML forms.
  public func percentUnescaped(plusIsSpace: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var index = startIndex
    while index < endIndex {
      let byte = self[index]
      if byte == UInt8(ascii: "%"), endIndex - index > 2,
        let high = Base16.value(of: self[index + 1]), let low = Base16.value(of: self[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        index += 1
      }
    }
    return result
  }
}
