/// The key under which CFNetwork looks a response up.
///
/// Source: `formats.md` §5. Of requests with a body only the newer schemas, whose keys have nothing of it,
/// are meant.
public struct AppleCacheKey: Hashable, Sendable {
  /// The key, as the column `request_key` holds it.
  public let text: ByteString

  /// Makes the key of a request.
  ///
  /// It is the URL with its fragment; what may not stand in a URL is percent-escaped, a `/` at the end of a URL
  /// with a query is gone, and the partition follows in brackets.
  public init(of url: ByteString, partition: ByteString? = nil) {
    var parts = URLReference(url.bytes)
    // The brackets of an IPv6 address stay.
    parts.authority = parts.authority.map { Self.escaped($0, sparing: Array("[]".utf8)) }
    parts.path = Self.escaped(parts.path)
    parts.query = parts.query.map { Self.escaped($0) }
    parts.fragment = parts.fragment.map { Self.escaped($0) }
    var key = parts.text
    if parts.query != nil, key.last == UInt8(ascii: "/") { key.removeLast() }
    if let partition { key += [UInt8(ascii: "[")] + partition.bytes + [UInt8(ascii: "]")] }
    text = ByteString(key)
  }

  private static func escaped(_ text: [UInt8], sparing brackets: [UInt8] = []) -> [UInt8] {
    text.flatMap { byte in
      isLegal(byte) || brackets.contains(byte)
        ? [byte] : [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
    }
  }

  /// Whether a byte may stand in a URL: the unreserved, reserved and escape characters of RFC 3986 §2, but
  /// for the brackets.
  private static func isLegal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: Self.legalMarks.contains(byte)
    }
  }

  private static let legalMarks = Array("-._~:/?#@!$&'()*+,;=%".utf8)

  private static func digit(_ number: UInt8) -> UInt8 {
    number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
  }
}
