import Bytes

/// Whether the key of an Apple store is one that CFNetwork makes for a request.
///
/// A key is the URL, with what may not stand in a URL percent-escaped. The text of the request's body may
/// follow, and the partition in brackets; after a query the last `/` is missing. Source: `formats.md` §5.
enum CacheKeyCheck {
  /// Whether `key` is one for `url`.
  ///
  /// - Parameter hasBody: Whether the request has a body, whose text is not compared.
  static func agrees(_ key: ByteString, with url: ByteString, hasBody: Bool) -> Bool {
    if key == url { return true }
    let url = CanonicalURL.of(url).bytes[...]
    let shortURL = url.last == UInt8(ascii: "/") ? url.dropLast() : url
    return [key, withoutPartition(key)].contains { key in
      let key = CanonicalURL.of(key).bytes
      return key == Array(url) || key == Array(shortURL) || hasBody && key.starts(with: shortURL)
    }
  }

  private static func withoutPartition(_ key: ByteString) -> ByteString {
    guard key.bytes.last == UInt8(ascii: "]"),
      let bracket = key.bytes.lastIndex(of: UInt8(ascii: "["))
    else { return key }
    return ByteString(Array(key.bytes[..<bracket]))
  }
}
