extension UInt8 {
  /// Whether a URL may contain the byte somewhere: the unreserved and the reserved characters, and `%` (RFC 3986 §2).
  @inlinable
  public var mayBeInURL: Bool {
    switch self {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"):
      false
    default: 0x21...0x7E ~= self
    }
  }

  /// Whether the byte is a bracket, which in a URL stands around an IPv6 address only (RFC 3986 §3.2.2).
  @inlinable
  public var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}
