extension RandomAccessCollection<UInt8> where Index == Int {
  /// Decodes the Unicode scalar at `index` and the number of its bytes in UTF-8; `nil` and 1 if the bytes are invalid.
  @inlinable
  public func scalar(at index: Int) -> (scalar: Unicode.Scalar?, length: Int) {
    let first = self[index]
    let length: Int
    var value: UInt32
    switch first {
    case 0..<0x80: return (Unicode.Scalar(first), 1)
    // 0xC0 and 0xC1 only begin overlong forms, in which a slash or a quotation mark could hide from
    // a search for it.
    case 0xC2...0xDF: (length, value) = (2, UInt32(first & 0x1F))
    case 0xE0...0xEF: (length, value) = (3, UInt32(first & 0x0F))
    case 0xF0...0xF4: (length, value) = (4, UInt32(first & 0x07))
    // Skip a single byte, so that a valid character after an invalid byte is found.
    default: return (nil, 1)
    }
    guard length <= endIndex - index else { return (nil, 1) }
    for place in (index + 1)..<(index + length) {
      let next = self[place]
      guard next & 0xC0 == 0x80 else { return (nil, 1) }
      value = value << 6 | UInt32(next & 0x3F)
    }
    // Overlong forms and surrogates are not valid UTF-8 (RFC 3629 §3).
    let smallest: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
    guard value >= smallest, let scalar = Unicode.Scalar(value) else { return (nil, 1) }
    return (scalar, length)
  }
}
