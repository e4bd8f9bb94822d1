extension UInt8 {
  /// The lowercase letter of an ASCII capital; any other byte unchanged.
  @inlinable
  public var asciiLowercased: UInt8 {
    // Only ASCII letters fold in header fields, hosts and the names of SQLite. `lowercased()` of a
    // `String` would also turn the Kelvin sign into `k`.
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }

  /// Whether this is a digit from 0 to 9.
  @inlinable
  public var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// Whether this is an ASCII letter.
  @inlinable
  public var isASCIILetter: Bool {
    asciiLowercased >= UInt8(ascii: "a") && asciiLowercased <= UInt8(ascii: "z")
  }

  /// Whether this is a space or a tab, the optional white space of header fields (RFC 9110 §5.6.3).
  @inlinable
  public var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension Collection<UInt8> where SubSequence: BidirectionalCollection {
  /// The bytes without leading and trailing spaces and tabs (RFC 9110 §5.5).
  @inlinable
  public var trimmingBlanks: SubSequence {
    var rest = drop(while: \.isBlank)
    while rest.last?.isBlank == true { rest.removeLast() }
    return rest
  }
}

extension ByteString {
  /// The text with ASCII capitals in lowercase; other bytes are unchanged.
  @inlinable
  public var asciiLowercased: ByteString { ByteString(bytes.map(\.asciiLowercased)) }

  /// Whether the texts are equal when the case of ASCII letters is ignored.
  @inlinable
  public func equalsIgnoringASCIICase(_ other: ByteString) -> Bool {
    bytes.count == other.bytes.count
      && zip(bytes, other.bytes).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
  }
}

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
