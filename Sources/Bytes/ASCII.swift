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

/// Text that needs no escaping in most formats: the ASCII characters from space to `~`.
public enum PrintableASCII {
  /// Whether `text` is printable ASCII and contains neither `first` nor `second`.
  ///
  /// It may return `false` for such a text, which costs the caller only a closer look. It never returns `true` wrongly.
  public static func isAll(
    of text: Span<UInt8>, but first: UInt8, _ second: UInt8 = 0
  ) -> Bool {
    let (first, second) = (UInt64(first) &* ones, UInt64(second) &* ones)
    return hasNone(of: text) { word in
      special(word) | equal(word, to: first) | equal(word, to: second)
    }
  }

  /// Whether `text` is printable ASCII.
  public static func isAll(of text: Span<UInt8>) -> Bool { hasNone(of: text, markedBy: special) }

  /// Whether `marks`, which sets the high bit of each byte of a word that it looks for, finds none.
  @inline(__always)
  private static func hasNone(of text: Span<UInt8>, markedBy marks: (UInt64) -> UInt64) -> Bool {
    var found: UInt64 = 0
    var place = 0
    // No early exit: nearly all texts are plain, so all of a text is read in any case.
    while place &+ 8 <= text.count {
      found |= marks(text.word(at: place))
      place &+= 8
    }
    if place == text.count { return found & (0x80 &* ones) == 0 }
    if text.count >= 8 {
      // The last bytes once more, with some before them.
      found |= marks(text.word(at: text.count &- 8))
    } else {
      // Padded with spaces, which are plain.
      var rest = 0x20 &* ones
      while place < text.count {
        rest = rest << 8 | UInt64(text[place])
        place &+= 1
      }
      found |= marks(rest)
    }
    return found & (0x80 &* ones) == 0
  }

  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Returns a word with the high bit set in each byte that is below a space or above `~`, and maybe in bytes above one of
  /// these.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    ((word &- 0x20 &* ones) & ~word) | word | (word &+ ones)
  }

  /// Returns a word with the high bit set in each byte that is equal to the byte repeated in `other`, and maybe in bytes
  /// above one of these.
  @inline(__always)
  private static func equal(_ word: UInt64, to other: UInt64) -> UInt64 {
    let difference = word ^ other
    return (difference &- ones) & ~difference
  }
}
