public import Bytes

/// The key under which CFNetwork looks a response up.
///
/// Source: `formats.md` §5. Of requests with a body only the newer schemas, whose keys have nothing of it,
/// are meant.
public struct AppleCacheKey: Hashable, Sendable {
  /// The key, as the column `request_key` holds it.
  public let text: ByteString

  /// Makes the key of a request.
  ///
  /// It is the URL with its fragment; what may not stand in a URL is percent-escaped, a `/` at the end of a URL
  /// with a query is gone, and the partition follows in brackets.
  public init(of url: ByteString, partition: ByteString? = nil) {
    let parts = URLParts(url.bytes)
    var key = parts.escaped
    if parts.query != nil, key.last == UInt8(ascii: "/") { key.removeLast() }
    if let partition { key += [UInt8(ascii: "[")] + partition.bytes + [UInt8(ascii: "]")] }
    text = ByteString(key)
  }
}
