public import Bytes
public import ResponseStorage

/// URLs in a store that differ from missing URLs only by query or fragment.
public struct NearMisses {
  private static let limit = 3

  private var found: [ByteString: [ByteString]] = [:]

  /// Finds the URLs similar to the given URLs.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; keeps the first three for each URL.
  public init(to urls: [ByteString], in source: any ResponseSource) throws {
    for url in urls { found[Self.stem(of: url)] = [] }
    var found = found
    try source.scan(.url) { response in
      guard let url = response.url else { return .next }
      let stem = Self.stem(of: url)
      if let others = found[stem], others.count < Self.limit { found[stem] = others + [url] }
      return .next
    }
    self.found = found
  }

  /// Returns the URLs similar to `url`, at most three, in the order of the store.
  public func urls(near url: ByteString) -> [ByteString] { found[Self.stem(of: url)] ?? [] }

  private static func stem(of url: ByteString) -> ByteString {
    let parts = URLParts(CanonicalURL.of(url).bytes)
    return ByteString(Array(parts.bytes[..<parts.path.endIndex]))
  }
}
