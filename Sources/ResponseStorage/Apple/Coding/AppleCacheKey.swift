public import Bytes

/// The key under which CFNetwork looks a response up.
///
/// Source: `apple-cache.md`, "Key". Older schemas append the body of a request to its key; this is the key of
/// the newer ones, which do not.
public struct AppleCacheKey: Hashable, Sendable {
  /// The key, as in the column `request_key`.
  public let text: ByteString

  /// Creates the key of a request.
  ///
  /// The key is the URL with its fragment. Characters that are not allowed in a URL are percent-escaped, a `/`
  /// at the end of a URL with a query is removed, and the partition follows in brackets.
  public init(of url: ByteString, partition: ByteString? = nil) {
    let parts = URLParts(url.bytes)
    var key = parts.escaped
    // Observed in all 16 keys of real caches that this can apply to, all from OS X 10.10. The rule
    // for a path without a query was never seen, so a `/` at its end is kept, as in `http://host/`.
    if parts.query != nil, key.last == UInt8(ascii: "/") { key.removeLast() }
    if let partition { key += [UInt8(ascii: "[")] + partition.bytes + [UInt8(ascii: "]")] }
    text = ByteString(key)
  }
}
