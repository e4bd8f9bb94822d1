/// Text as a store contains it: bytes that should be UTF-8 but may not be.
///
/// Two byte strings are equal if their bytes are. A `String` compares by canonical equivalence: it would treat a URL in
/// NFC and in NFD as equal, and `"` followed by U+0301 as a character other than `"`. Cache keys must be compared, and
/// hostile text escaped, byte by byte.
@frozen
public struct ByteString: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  /// The bytes.
  public var bytes: [UInt8]

  /// Creates a text from its bytes.
  @inlinable
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Creates a copy of a text in a buffer of exactly its size.
  ///
  /// A scan reuses its buffers, but only while no other reference to them exists. Copy a text that is kept.
  // Without the copy, each URL of a plan of a million entries keeps the spare room of the buffer of
  // the scan.
  @inlinable
  public init(copying other: ByteString) {
    bytes = []
    bytes.reserveCapacity(other.bytes.count)
    bytes.append(contentsOf: other.bytes)
  }

  /// Creates a text from the UTF-8 of `string`.
  @inlinable
  public init(_ string: some StringProtocol) {
    bytes = Array(string.utf8)
  }

  @inlinable
  public init(stringLiteral value: StaticString) {
    bytes = Array(value.description.utf8)
  }

  @inlinable
  public func hash(into hasher: inout Hasher) {
    // Eight bytes at a time: `Array` hashes each byte separately.
    let span = bytes.span
    var place = 0
    while place < span.count {
      hasher.combine(span.word(paddedAt: place))
      place &+= 8
    }
    // The count distinguishes zeros at the end of a text from padding.
    hasher.combine(bytes.count)
  }

  /// The text as a string, or `nil` if it is not valid UTF-8.
  @inlinable
  public var string: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// Orders by bytes. For UTF-8, this is the order of the Unicode scalars.
  @inlinable
  public static func < (lhs: Self, rhs: Self) -> Bool {
    // A `String` is ordered by its normalized form, in which two different keys can be equal.
    lhs.bytes.lexicographicallyPrecedes(rhs.bytes)
  }
}
