/// Text as its store holds it: bytes that are meant to be UTF-8, and may not be.
///
/// Two byte strings are equal when their bytes are. A `String` would take a URL in NFC and the same
/// one in NFD for equal, and `"` followed by U+0301 for something that is not `"`: a cache key is
/// compared, and hostile text is escaped, by bytes.
@frozen
public struct ByteString: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
  /// The bytes.
  public var bytes: [UInt8]

  /// Creates a text of the given bytes.
  @inlinable
  public init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Creates a text of the bytes of another one, in memory of its own that is no larger than they are.
  ///
  /// What a scan finds is in memory that the scan uses again unless somebody else holds it.
  @inlinable
  public init(copying other: ByteString) {
    bytes = []
    bytes.reserveCapacity(other.bytes.count)
    bytes.append(contentsOf: other.bytes)
  }

  /// Creates a text of the UTF-8 of `string`.
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
    // Eight bytes at once: an array hashes each by itself.
    let span = bytes.span
    var place = 0
    while place < span.count {
      hasher.combine(span.word(paddedAt: place))
      place &+= 8
    }
    hasher.combine(bytes.count)
  }

  /// The text as a string, or `nil` if the bytes are not UTF-8.
  @inlinable
  public var string: String? {
    String(validating: bytes, as: UTF8.self)
  }

  /// The order of the bytes, which for UTF-8 is that of the Unicode scalars.
  @inlinable
  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.bytes.lexicographicallyPrecedes(rhs.bytes)
  }
}
