import ResponseStorage

/// A URL as the field `WARC-Target-URI` may have it (RFC 3986).
struct WARCTargetURI: Hashable {
  /// The URI, in ASCII.
  let bytes: [UInt8]

  /// Escapes what may not stand in a URI; `nil` if it has no scheme.
  init?(_ url: ByteString) {
    let escaped = url.bytes.flatMap { byte -> [UInt8] in
      if Self.mayStand(byte) { return [byte] }
      let digits = Array("0123456789ABCDEF".utf8)
      return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    let scheme = escaped.prefix { $0 != UInt8(ascii: ":") }
    guard let first = scheme.first?.asciiLowercased, 0x61...0x7A ~= first,
      scheme.count < escaped.count, scheme.allSatisfy({ Self.isOfScheme($0) })
    else { return nil }
    bytes = escaped
  }

  /// Whether it is one of `http` or `https`.
  var isOfHTTP: Bool {
    let start = bytes.prefix(8).map(\.asciiLowercased)
    return start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8)
  }

  private static func mayStand(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && !Array("<>\"{}|\\^`".utf8).contains(byte)
  }

  private static func isOfScheme(_ byte: UInt8) -> Bool {
    let letter = byte.asciiLowercased
    return 0x61...0x7A ~= letter || 0x30...0x39 ~= byte || Array("+-.".utf8).contains(byte)
  }
}
