/// A limit that a cache cannot meet.
public struct UnmetLimit: Hashable, Sendable {
  /// What is limited.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The size on disk.
    case bytes = "max-size"
    /// The number of entries.
    case entries = "max-entries"
    /// What the file system has to get back.
    case bytesToFree = "min-free"
  }

  /// What is limited.
  public var kind: Kind
  /// The limit: bytes, entries, or the bytes that are wanted back.
  public var limit: Int64
  /// The best that can be reached, in the same unit, or a bound that it cannot be better than.
  public var reachable: Int64

  /// Creates a limit that is not met.
  public init(kind: Kind, limit: Int64, reachable: Int64) {
    (self.kind, self.limit, self.reachable) = (kind, limit, reachable)
  }
}
