import Bytes

/// Checks the key of an entry in an Apple store against the keys that CFNetwork makes for a request.
///
/// A key is the URL with invalid characters percent-escaped. The text of the request's body and the partition in
/// brackets may follow; after a query the last `/` is missing. Source: `apple-cache.md`, "Key".
enum CacheKeyCheck {
  /// Whether `key` is a valid key for `url`.
  ///
  /// - Parameter hasBody: Whether the request has a body; its text is not compared.
  static func agrees(_ key: ByteString, with url: ByteString, hasBody: Bool) -> Bool {
    // Nearly all keys equal the URL.
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
