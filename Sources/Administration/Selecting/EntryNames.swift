public import Bytes
public import ResponseStorage

/// The entries that a user named, by URL or by what the store calls them: one list.
///
/// A URL names each response whose URL or key has the same canonical form, and in a Foundation store each that
/// the store answers it with.
public struct EntryNames: Hashable, Sendable {
  /// What one entry is named by.
  public enum Name: Hashable, Sendable {
    case id(StoredResponse.ID)
    case url(ByteString)
  }

  private var given: [Name] = []
  private var ids: Set<StoredResponse.ID> = []
  /// The first given URL of each canonical form.
  private var canonicalURLs: [ByteString: ByteString] = [:]
  /// The URLs by the texts of their keys in a Foundation store.
  private var urlsByKey: [ByteString: [ByteString]] = [:]

  /// The first of the responses that were found otherwise than by a URL and a key that are the same.
  public private(set) var lookups: [StoreLookup] = []

  /// So many lookups are kept: a list of more names was made by a program.
  private static let mostLookups = 20

  /// Creates a list; of two names that name the same the first stays.
  public init(_ names: some Sequence<Name> = []) {
    for name in names where insert(name) {
      given.append(name)
      guard case .url(let url) = name, let key = FoundationKey(of: url) else { continue }
      urlsByKey[key.text, default: []].append(url)
    }
  }

  private mutating func insert(_ name: Name) -> Bool {
    switch name {
    case .id(let id): ids.insert(id).inserted
    case .url(let url): insert(url)
    }
  }

  private mutating func insert(_ url: ByteString) -> Bool {
    let canonical = CanonicalURL.of(url)
    guard canonicalURLs[canonical] == nil else { return false }
    canonicalURLs[canonical] = url
    return true
  }

  /// Whether there is no name in the list.
  public var isEmpty: Bool { ids.isEmpty && canonicalURLs.isEmpty }

  /// The names, in the order in which they were given.
  public var names: [Name] {
    given.filter { name in
      switch name {
      case .id(let id): ids.contains(id)
      case .url(let url): canonicalURLs[CanonicalURL.of(url)] != nil
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
    if case .file = response.id { return urlsByKey[key] != nil }
    return holds(key)
  }

  /// How a response of a Foundation store is found by one of the URLs; `nil` if it is not, or if its URL is it and
  /// its key is that of the URL.
  public func lookup(of response: borrowing StoredResponse) -> StoreLookup? {
    guard case .file = response.id, let key = response.key else { return nil }
    return lookup(response.url, key)
  }

  private func lookup(_ url: ByteString?, _ key: ByteString) -> StoreLookup? {
    if let asked = urlsByKey[key]?.first {
      let isOwn = urlsByKey[key]?.contains { CanonicalURL.of($0) == url.map(CanonicalURL.of) }
      return isOwn == true ? nil : StoreLookup(asked: asked, stored: url, key: key)
    }
    // A default port is no part of a canonical URL, and is a part of a key.
    guard let url, let asked = canonicalURLs[CanonicalURL.of(url)] else { return nil }
    return StoreLookup(asked: asked, stored: url, key: key)
  }

  private func holds(_ url: ByteString) -> Bool {
    // Nearly all are canonical: looked up as they are, threads need not count who holds on to them.
    CanonicalURL.isCanonical(url.bytes)
      ? canonicalURLs[url] != nil : canonicalURLs[CanonicalURL.of(url)] != nil
  }

  /// Removes all names that a response has; what is left after the last response names none.
  mutating func remove(_ id: StoredResponse.ID, url: ByteString?, key: ByteString?) {
    ids.remove(id)
    if canonicalURLs.isEmpty { return }
    if case .file = id, let key {
      if let lookup = lookup(url, key), lookups.count < Self.mostLookups { lookups.append(lookup) }
      for url in urlsByKey[key] ?? [] { canonicalURLs[CanonicalURL.of(url)] = nil }
    }
    if let url { canonicalURLs[CanonicalURL.of(url)] = nil }
    if let key, key != url { canonicalURLs[CanonicalURL.of(key)] = nil }
  }

  /// Removes all names that a response has.
  public mutating func remove(_ response: borrowing StoredResponse) {
    // Scans ask this of every response, and most name none.
    if isEmpty { return }
    remove(response.id, url: response.url, key: response.key)
  }
}
