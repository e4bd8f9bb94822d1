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
    let isEscaped = url.bytes.allSatisfy(\.mayBeInURL)
    bytes = isEscaped ? url.bytes : url.bytes.percentEscaped(unless: \.mayBeInURL)
  }

  /// Escapes a URL; `nil` if it has no scheme.
  init?(absolute url: ByteString) {
    self.init(url)
    if URLParts(bytes).scheme == nil { return nil }
  }

  /// The URI as a text of a cache.
  var text: ByteString { ByteString(bytes) }

  /// Whether it is one of `http` or `https`.
  var isOfHTTP: Bool {
    let start = bytes.prefix(8).map(\.asciiLowercased)
    return start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8)
  }
}
