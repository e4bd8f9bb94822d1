extension Sequence<UInt8> {
  /// Returns the bytes with those that are not allowed percent-escaped (RFC 3986 §2.1).
  ///
  /// - Parameters:
  ///   - letters: The case of the digits in the escapes; RFC 3986 recommends capitals.
  ///   - mayStand: Whether a byte is kept as it is.
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
        // Append directly: an array for each escape would cost more than everything else done with a URL.
        result.append(UInt8(ascii: "%"))
        result.append(Base16.digit(byte >> 4, letters))
        result.append(Base16.digit(byte, letters))
      }
    }
    return result
  }
}

extension ArraySlice<UInt8> {
  /// Returns the bytes with each percent-escape replaced by its byte (RFC 3986 §2.1). A `%` that begins no escape is
  /// kept.
  ///
  /// - Parameter plusIsSpace: Whether `+` means a space, as in the queries of HTML forms.
  public func percentUnescaped(plusIsSpace: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var index = startIndex
    while index < endIndex {
      let byte = self[index]
      // A lone `%` is kept, as URLs from a cache need not be valid, and dropping it would make two
      // of them equal.
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
