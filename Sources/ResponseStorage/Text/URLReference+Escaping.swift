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

  /// Text whose percent-escapes were carried out; a `%` that begins none stays.
  static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2,
        let high = number(of: text[index + 1]), let low = number(of: text[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }

  /// The number that a hexadecimal digit stands for; `nil` if it is none.
  static func number(of digit: UInt8) -> UInt8? {
    switch digit.asciiLowercased {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit.asciiLowercased - UInt8(ascii: "a") + 10
    default: nil
    }
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
