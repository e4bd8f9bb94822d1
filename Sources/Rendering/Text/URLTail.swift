import Bytes

/// What a URL has after its authority.
enum URLTail {
  /// The path, the query and the fragment; the whole of what has no authority.
  static func of(_ url: ByteString) -> ByteString {
    // The text may be one that a person sees, in which parts of the scheme are escaped or left out.
    let parts = URLParts(url.bytes, allowsAnyScheme: true)
    guard parts.scheme != nil, parts.authority != nil else { return url }
    return ByteString(Array(parts.afterAuthority))
  }
}
