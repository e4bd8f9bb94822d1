import Bytes

/// The part of a URL after its authority.
enum URLTail {
  /// Returns the path, the query and the fragment; the whole text if there is no authority.
  static func of(_ url: ByteString) -> ByteString {
    // The text may be the safe form of a URL, in which parts of the scheme are escaped or left out.
    let parts = URLParts(url.bytes, allowsAnyScheme: true)
    guard parts.scheme != nil, parts.authority != nil else { return url }
    return ByteString(Array(parts.afterAuthority))
  }
}
