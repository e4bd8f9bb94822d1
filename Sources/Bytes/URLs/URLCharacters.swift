extension UInt8 {
  /// Whether the byte may occur in a URL: unreserved and reserved characters, and `%` (RFC 3986 §2).
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

  /// Whether the byte is a bracket. In a URL, brackets only enclose an IPv6 address (RFC 3986 §3.2.2).
  @inlinable
  public var isBracket: Bool { self == UInt8(ascii: "[") || self == UInt8(ascii: "]") }
}
