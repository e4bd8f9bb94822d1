/// A limit that a cache cannot meet.
public struct UnmetLimit: Hashable, Sendable {
  /// The quantity that is limited.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The size on disk.
    case bytes = "max-size"
    /// The number of entries.
    case entries = "max-entries"
    /// The free space on the file system.
    case bytesToFree = "min-free"
  }

  /// The quantity that is limited.
  public var kind: Kind
  /// The limit: bytes, entries, or bytes to free.
  public var limit: Int64
  /// The best reachable value in the same unit, or a bound for it.
  public var reachable: Int64

  /// Creates a limit that is not met.
  public init(kind: Kind, limit: Int64, reachable: Int64) {
    (self.kind, self.limit, self.reachable) = (kind, limit, reachable)
  }
}
