/// The entries that a cache no longer shows, as far as its files still have them.
///
/// Nothing is written.
public protocol RemovedEntries: ResponseSource {
  /// Why the cache itself cannot be read; `nil` if it can.
  var damage: StoreError? { get }

  /// What was searched and why it may have nothing, for display when nothing was found; `nil` if what was given need not
  /// be a cache at all.
  var searched: String? { get }

  /// Returns what is known of an entry, besides its content.
  ///
  /// - Throws: An error of a temporary file.
  func fact(of id: StoredResponse.ID) throws -> RecoveredFact?

  /// The number of the entries.
  func count() -> Int64
}

/// What to look for.
public struct RemovedEntriesOptions: Hashable, Sendable {
  /// Whether to take all that can still be read, as from a database that SQLite cannot read.
  public var isDamaged = false

  /// Whether to keep all versions of an entry, also those of entries that the cache has now; otherwise only the newest
  /// version of each entry that it does not have.
  public var withVersions = false

  /// Whether entries have bodies that may belong to another version of them.
  public var withUncertainBodies = false

  /// Creates the options of a plain search.
  public init() {}
}

/// What is known of a removed entry, besides its content.
public struct RecoveredFact: Hashable, Sendable {
  /// The id of the entry in its source.
  public let id: StoredResponse.ID

  /// How much was recovered.
  public let confidence: RecoveryConfidence

  /// Where it was found, for display: `free page 7, offset 28900`.
  public let place: String
}

/// How much of an entry was recovered.
public enum RecoveryConfidence: String, Hashable, Sendable, CaseIterable {
  /// The request, the response and the body.
  case complete
  /// The request and the response, and a body that may belong to another version of the entry.
  case bodyUncertain = "body-uncertain"
  /// The request and the response, but not the body.
  case bodyMissing = "body-missing"
  /// The URL, and perhaps when it was first stored.
  case onlyURL = "only-url"
  /// The body, and perhaps the URL.
  case onlyBody = "only-body"
}

extension StoreOpening {
  /// Looks for the entries that the store at the path no longer has.
  ///
  /// - Throws: ``StoreError``, `unsupported` if stores of this kind keep none; or an error of a temporary file.
  public func findRemovedEntries(
    _ options: RemovedEntriesOptions
  ) throws -> any RemovedEntries {
    // Any file can be what is left of a database.
    try ((try? kind()) ?? AppleStore.self).removedEntries(self, options)
  }
}
