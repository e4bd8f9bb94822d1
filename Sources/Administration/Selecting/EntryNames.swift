public import Bytes
public import ResponseStorage

/// A list of entries that a user named, by URL or by id.
///
/// A URL matches each response whose URL or key has the same canonical form; in a Foundation store also each response
/// that the store returns for it.
public struct EntryNames: Hashable, Sendable {
  /// The name of an entry.
  public enum Name: Hashable, Sendable {
    case id(StoredResponse.ID)
    case url(ByteString)
  }

  private var given: [Name] = []
  private var ids: Set<StoredResponse.ID> = []
  /// The first given URL of each canonical form.
  private var canonicalURLs: [ByteString: ByteString] = [:]
  /// The URLs by the text of their key in a Foundation store.
  private var urlsByKey: [ByteString: [ByteString]] = [:]

  /// The first responses found by another way than a URL that equals the key.
  public private(set) var lookups: [StoreLookup] = []

  /// The maximum number of lookups to keep; longer lists come from programs.
  private static let mostLookups = 20

  /// Creates a list; duplicate names are dropped.
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

  /// Whether the list has no names.
  public var isEmpty: Bool { ids.isEmpty && canonicalURLs.isEmpty }

  /// The names, in the order given.
  public var names: [Name] {
    given.filter { name in
      switch name {
      case .id(let id): ids.contains(id)
      case .url(let url): canonicalURLs[CanonicalURL.of(url)] != nil
      }
    }
  }

  /// The ids in ascending order; `nil` if the list also contains a URL.
  public var idsOnly: [StoredResponse.ID]? { canonicalURLs.isEmpty ? ids.sorted() : nil }

  /// The fields that ``contains(_:)`` and ``remove(_:)`` need.
  public var projection: Projection { canonicalURLs.isEmpty ? [] : [.url, .key] }

  /// Whether the list contains an id.
  public func contains(_ id: StoredResponse.ID) -> Bool { ids.contains(id) }

  /// Whether the list contains a name of a response.
  public func contains(_ response: borrowing StoredResponse) -> Bool {
    if ids.contains(response.id) { return true }
    if canonicalURLs.isEmpty { return false }
    if let url = response.url, holds(url) { return true }
    guard let key = response.key, key != response.url else { return false }
    // The key of a Foundation store is made of host, port and path. It is no URL that could be
    // compared.
    if response.foundationKey != nil { return urlsByKey[key] != nil }
    return holds(key)
  }

  /// Returns how a response in a Foundation store is found by one of the URLs; `nil` if it is not found, or if both its
  /// URL and key match.
  public func lookup(of response: borrowing StoredResponse) -> StoreLookup? {
    guard let key = response.foundationKey else { return nil }
    return lookup(response.url, key.text)
  }

  private func lookup(_ url: ByteString?, _ key: ByteString) -> StoreLookup? {
    if let asked = urlsByKey[key]?.first {
      let isOwn = urlsByKey[key]?.contains { CanonicalURL.of($0) == url.map(CanonicalURL.of) }
      return isOwn == true ? nil : StoreLookup(asked: asked, stored: url, key: key)
    }
    // Canonical URLs drop a default port, but keys contain it.
    guard let url, let asked = canonicalURLs[CanonicalURL.of(url)] else { return nil }
    return StoreLookup(asked: asked, stored: url, key: key)
  }

  private func holds(_ url: ByteString) -> Bool {
    // Nearly all URLs are canonical: looking them up unchanged avoids contention for reference counts between threads.
    CanonicalURL.isCanonical(url.bytes)
      ? canonicalURLs[url] != nil : canonicalURLs[CanonicalURL.of(url)] != nil
  }

  /// Removes all names of a response; the names left after the last response match none.
  mutating func remove(_ id: StoredResponse.ID, url: ByteString?, key: ByteString?) {
    ids.remove(id)
    if canonicalURLs.isEmpty { return }
    if case .file = id, let key, FoundationKey(text: key) != nil {
      if let lookup = lookup(url, key), lookups.count < Self.mostLookups { lookups.append(lookup) }
      // The store answers each of these URLs with this entry, so none of them is missing.
      for url in urlsByKey[key] ?? [] { canonicalURLs[CanonicalURL.of(url)] = nil }
    }
    if let url { canonicalURLs[CanonicalURL.of(url)] = nil }
    if let key, key != url { canonicalURLs[CanonicalURL.of(key)] = nil }
  }

  /// Removes all names of a response.
  public mutating func remove(_ response: borrowing StoredResponse) {
    // Scans call this for every response, usually with an empty list.
    if isEmpty { return }
    if canonicalURLs.isEmpty {
      ids.remove(response.id)
    } else {
      remove(response.id, url: response.url, key: response.key)
    }
  }
}

/// How a Foundation store finds a response for another URL, or fails to find it for its own.
///
/// The key has neither scheme nor query, and is that of the requested URL, before redirects.
public struct StoreLookup: Hashable, Sendable {
  /// The requested URL.
  public let asked: ByteString

  /// The URL of the response.
  public let stored: ByteString?

  /// The text of the key of the response.
  public let key: ByteString

  /// Whether the store returns the response for the URL: their keys are equal.
  public var isAnswer: Bool { FoundationKey(of: asked)?.text == key }

  /// Whether the response came after a redirect, so that its key does not belong to its URL.
  public var isRedirected: Bool { stored.map { FoundationKey(of: $0)?.text != key } ?? false }

  /// Whether the response was stored for the same path with another query, possibly of another user.
  public var differsByQuery: Bool {
    guard isAnswer, !isRedirected, let stored else { return false }
    return URLParts(stored.bytes).query != URLParts(asked.bytes).query
  }

  /// The key in readable form.
  public var shownKey: ByteString { FoundationKey(text: key)?.shown ?? key }
}
