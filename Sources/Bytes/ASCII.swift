extension UInt8 {
  /// The small letter of an ASCII capital; any other byte as it is.
  @inlinable
  public var asciiLowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }
}

extension ByteString {
  /// The text with its ASCII capitals made small; other bytes stay as they are.
  @inlinable
  public var asciiLowercased: ByteString { ByteString(bytes.map(\.asciiLowercased)) }

  /// Whether this is `other` when ASCII letters of either case are the same.
  @inlinable
  public func equalsIgnoringASCIICase(_ other: ByteString) -> Bool {
    bytes.count == other.bytes.count
      && zip(bytes, other.bytes).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}
