import Bytes

/// A URL in which what may stand in no URI is percent-escaped (RFC 3986 §2): as archives name their entries.
///
/// All formats have the same URIs for the same entries, so that one can be held against another.
struct EscapedURI: Hashable {
  /// The URI, in ASCII.
  let bytes: [UInt8]

  /// Escapes a URL.
  init(_ url: ByteString) {
    // Nearly all are as they must be.
    let isEscaped = url.bytes.allSatisfy(Self.mayStand)
    bytes = isEscaped ? url.bytes : url.bytes.percentEscaped(unless: Self.mayStand)
  }

  /// Escapes a URL; `nil` if it has no scheme.
  init?(absolute url: ByteString) {
    self.init(url)
    let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
    guard let first = scheme.first?.asciiLowercased, 0x61...0x7A ~= first,
      scheme.count < bytes.count, scheme.allSatisfy({ Self.isOfScheme($0) })
    else { return nil }
  }

  /// The URI as a text of a cache.
  var text: ByteString { ByteString(bytes) }

  /// Whether it is one of `http` or `https`.
  var isOfHTTP: Bool {
    let start = bytes.prefix(8).map(\.asciiLowercased)
    return start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8)
  }

  private static func mayStand(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "|"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"):
      false
    default: 0x21...0x7E ~= byte
    }
  }

  private static func isOfScheme(_ byte: UInt8) -> Bool {
    let letter = byte.asciiLowercased
    return 0x61...0x7A ~= letter || 0x30...0x39 ~= byte || Array("+-.".utf8).contains(byte)
  }
}
