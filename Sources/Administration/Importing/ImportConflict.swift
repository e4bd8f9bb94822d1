public import Bytes

/// What an import does with an entry if the cache has a different entry with the same key.
public enum ImportConflictRule: String, Hashable, Sendable, CaseIterable {
  /// The entry of the cache is kept.
  case skip
  /// The entry of the archive replaces it.
  case replace
  /// The entry that was first stored later is kept; the entry of the cache if neither was.
  case newer
  /// Nothing is imported.
  case error
}

/// An entry of an archive has the key of an entry of the cache, which the rule forbids.
public struct ImportConflict: Error, Hashable, Sendable {
  /// The URL of the entry.
  public var url: ByteString?
  /// Whether the other entry is also in the archive.
  public var isInArchive = false
}
