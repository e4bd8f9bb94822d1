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
    // CFNetwork percent-escapes in the key what may not stand in a URL, such as `[` and `|`, and
    // keeps it raw in the property list. The canonical forms of both are equal.
    let url = CanonicalURL.of(url).bytes[...]
    // In caches of schema 102 and 104, the key of a URL with a query lacks the slash at its end,
    // while that of a bare host keeps it. Both count as right: a false finding would tell users
    // that an app gets somebody else's response.
    let shortURL = url.last == UInt8(ascii: "/") ? url.dropLast() : url
    return [key, withoutPartition(key)].contains { key in
      let key = CanonicalURL.of(key).bytes
      // Schemas 102 and 104 append the raw body of a POST to the URL, so only the beginning can be
      // compared.
      return key == Array(url) || key == Array(shortURL) || hasBody && key.starts(with: shortURL)
    }
  }

  // Some real keys end with a partition although the column `partition` is NULL, so the column
  // cannot tell whether to expect one.
  private static func withoutPartition(_ key: ByteString) -> ByteString {
    guard key.bytes.last == UInt8(ascii: "]"),
      let bracket = key.bytes.lastIndex(of: UInt8(ascii: "["))
    else { return key }
    return ByteString(Array(key.bytes[..<bracket]))
  }
}
