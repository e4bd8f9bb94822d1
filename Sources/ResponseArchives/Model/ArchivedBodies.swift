/// Which bodies an archive contains, and so what it means if an entry has none.
public enum ArchivedBodies: String, Hashable, Sendable, CaseIterable {
  /// All bodies that the cache had: it had none for such an entry.
  case all
  /// No bodies: the archive does not record which entries had one.
  case none
  /// The bodies that were found in what a cache no longer shows: the body of such an entry is lost.
  case recovered
}
