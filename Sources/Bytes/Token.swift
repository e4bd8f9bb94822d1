extension UInt8 {
  /// Whether a token may contain this byte (RFC 9110 §5.6.2).
  @inlinable
  public var isTokenCharacter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
      UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

extension Collection<UInt8> {
  /// Whether the bytes are a token, such as a method or a field name (RFC 9110 §5.6.2).
  @inlinable
  public var isToken: Bool { !isEmpty && allSatisfy(\.isTokenCharacter) }
}
