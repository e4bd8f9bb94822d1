public import Bytes
public import ResponseStorage

/// URLs of a store that differ from one that is not in it by their query or fragment only.
public struct NearMisses {
  private static let limit = 3

  private var found: [ByteString: [ByteString]] = [:]

  /// Looks for URLs that are near to some.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries; of each URL the first three are kept.
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

  /// The URLs near to `url`, up to three, in the order of the store.
  public func urls(near url: ByteString) -> [ByteString] { found[Self.stem(of: url)] ?? [] }

  private static func stem(of url: ByteString) -> ByteString {
    let parts = URLParts(CanonicalURL.of(url).bytes)
    return ByteString(Array(parts.bytes[..<parts.path.endIndex]))
  }
}
