/// An entity tag: the origin's name for one version of a resource (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
  /// The tag as it was received. It is sent back unchanged (RFC 9111 §4.3.1).
  public let verbatim: [UInt8]

  /// Whether the tag begins with `W/`, in capitals.
  public let isWeak: Bool

  /// Whether the tag matches the grammar. Many origins omit the quotation marks.
  public let isWellFormed: Bool

  /// Parses an entity tag, well-formed or not (RFC 9110 §8.8.3).
  ///
  /// The value is a single tag, never a list: a comma is part of the tag.
  public init(_ bytes: [UInt8]) {
    // A malformed tag is kept as well. The origin that sent it compares it with its own, and knows
    // nothing of the grammar.
    verbatim = bytes
    let form = Form(of: bytes.span)
    (isWeak, isWellFormed) = (form.isWeak, form.isWellFormed)
  }

  /// The syntax of a tag.
  struct Form {
    let isWeak: Bool
    let isWellFormed: Bool

    init(of bytes: Span<UInt8>) {
      // The grammar makes the prefix case-sensitive: `w/"a"` is a malformed tag and not a weak one.
      isWeak = bytes.count >= 2 && bytes[0] == UInt8(ascii: "W") && bytes[1] == UInt8(ascii: "/")
      isWellFormed = Self.isQuoted(bytes.extracting(droppingFirst: isWeak ? 2 : 0))
    }

    private static func isQuoted(_ bytes: Span<UInt8>) -> Bool {
      let quote = UInt8(ascii: "\"")
      guard bytes.count >= 2, bytes[0] == quote, bytes[bytes.count - 1] == quote else {
        return false
      }
      for index in 1..<(bytes.count - 1) {
        let byte = bytes[index]
        // RFC 9110 §8.8.3 allows neither quotes nor spaces and controls, but any byte beyond ASCII.
        guard byte == UInt8(ascii: "!") || byte >= UInt8(ascii: "#") && byte != 0x7F else {
          return false
        }
      }
      return true
    }
  }

  /// The tag without `W/`, with its quotation marks.
  public var opaque: ArraySlice<UInt8> { verbatim.dropFirst(isWeak ? 2 : 0) }

  /// Whether equal tags mean equal bytes of the body (RFC 9110 §8.8.1).
  // A tag that breaks the grammar promises nothing, so it is not used to join two parts of a body.
  public var isStrong: Bool { !isWeak && isWellFormed }

  /// The strong comparison: both tags are strong and equal (RFC 9110 §8.8.3.2).
  public func stronglyEquals(_ other: EntityTag) -> Bool {
    isStrong && other.isStrong && verbatim == other.verbatim
  }

  /// The weak comparison: the tags are equal, ignoring `W/` (RFC 9110 §8.8.3.2).
  public func weaklyEquals(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
