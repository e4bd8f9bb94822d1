import Bytes

extension URLReference {
  /// The reference with what may not stand in a URL percent-escaped.
  var escaped: URLReference {
    var parts = self
    // The brackets of an IPv6 address stay.
    parts.authority = authority.map { Self.escaped($0, sparing: Array("[]".utf8)) }
    parts.path = Self.escaped(path)
    parts.query = query.map { Self.escaped($0) }
    parts.fragment = fragment.map { Self.escaped($0) }
    return parts
  }

  /// Text with what may not stand in a URL percent-escaped.
  ///
  /// - Parameter brackets: What stays all the same.
  static func escaped(_ text: [UInt8], sparing brackets: [UInt8] = []) -> [UInt8] {
    text.percentEscaped { isLegal($0) || brackets.contains($0) }
  }

  /// Whether a byte may stand in a URL: the unreserved, reserved and escape characters of RFC 3986 §2, but
  /// for the brackets.
  static func isLegal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: Self.legalMarks.contains(byte)
    }
  }

  private static let legalMarks = Array("-._~:/?#@!$&'()*+,;=%".utf8)
}
