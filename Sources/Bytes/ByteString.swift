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
