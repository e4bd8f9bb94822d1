import Bytes

/// A URL whose characters that are invalid in a URI are percent-escaped (RFC 3986 §2).
///
/// Every archive format uses the same URI for an entry, so that archives can be compared.
struct EscapedURI: Hashable {
  /// The URI, in ASCII.
  let bytes: [UInt8]

  /// Escapes a URL.
  init(_ url: ByteString) {
    // Nearly all URLs are valid already, and need no copy.
    let isEscaped = url.bytes.allSatisfy(\.mayBeInURL)
    bytes = isEscaped ? url.bytes : url.bytes.percentEscaped(unless: \.mayBeInURL)
  }

  /// Escapes a URL; `nil` if it has no scheme.
  init?(absolute url: ByteString) {
    self.init(url)
    // WARC-Target-URI must be an absolute URI (WARC 1.1, "WARC-Target-URI").
    if URLParts(bytes).scheme == nil { return nil }
  }

  /// The URI as a byte string.
  var text: ByteString { ByteString(bytes) }

  /// Whether the scheme is `http` or `https`.
  var isOfHTTP: Bool {
    let start = bytes.prefix(8).map(\.asciiLowercased)
    return start.starts(with: "http://".utf8) || start.starts(with: "https://".utf8)
  }
}
