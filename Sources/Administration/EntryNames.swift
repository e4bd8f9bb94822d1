public import ResponseStorage

/// The entries that a user named, by URL or by what the store calls them: one list.
///
/// A URL names each response whose URL or key has the same canonical form.
public struct EntryNames: Hashable, Sendable {
  /// What one entry is named by.
  public enum Name: Hashable, Sendable {
    case id(StoredResponse.ID)
    case url(ByteString)
  }

  private var given: [Name] = []
  private var ids: Set<StoredResponse.ID> = []
  private var canonicalURLs: Set<ByteString> = []

  /// Creates a list; of two names that name the same the first stays.
  public init(_ names: some Sequence<Name> = []) {
    for name in names where insert(name) { given.append(name) }
  }

  private mutating func insert(_ name: Name) -> Bool {
    switch name {
    case .id(let id): ids.insert(id).inserted
    case .url(let url): canonicalURLs.insert(CanonicalURL.of(url)).inserted
    }
  }

  /// Whether there is no name in the list.
  public var isEmpty: Bool { ids.isEmpty && canonicalURLs.isEmpty }

  /// The names, in the order in which they were given.
  public var names: [Name] {
    given.filter { name in
      switch name {
      case .id(let id): ids.contains(id)
      case .url(let url): canonicalURLs.contains(CanonicalURL.of(url))
      }
    }
  }

  /// The ids in ascending order, or `nil` if a URL is in the list too.
  public var idsOnly: [StoredResponse.ID]? { canonicalURLs.isEmpty ? ids.sorted() : nil }

  /// What a response has to have been decoded for ``contains(_:)`` and ``remove(_:)``.
  public var projection: Projection { canonicalURLs.isEmpty ? [] : [.url, .key] }

  /// Whether an id is one of the names.
  public func contains(_ id: StoredResponse.ID) -> Bool { ids.contains(id) }

  /// Whether a response has one of the names.
  public func contains(_ response: borrowing StoredResponse) -> Bool {
    if ids.contains(response.id) { return true }
    if canonicalURLs.isEmpty { return false }
    if let url = response.url, holds(url) { return true }
    guard let key = response.key, key != response.url else { return false }
    return holds(key)
  }

  private func holds(_ url: ByteString) -> Bool {
    // Nearly all are canonical: looked up as they are, threads need not count who holds on to them.
    CanonicalURL.isCanonical(url.bytes)
      ? canonicalURLs.contains(url) : canonicalURLs.contains(CanonicalURL.of(url))
  }

  /// Removes all names that a response has; what is left after the last response names none.
  mutating func remove(_ id: StoredResponse.ID, url: ByteString?, key: ByteString?) {
    ids.remove(id)
    if canonicalURLs.isEmpty { return }
    if let url { canonicalURLs.remove(CanonicalURL.of(url)) }
    if let key, key != url { canonicalURLs.remove(CanonicalURL.of(key)) }
  }

  /// Removes all names that a response has.
  public mutating func remove(_ response: borrowing StoredResponse) {
    // Scans ask this of every response, and most name none.
    if isEmpty { return }
    remove(response.id, url: response.url, key: response.key)
  }
}
