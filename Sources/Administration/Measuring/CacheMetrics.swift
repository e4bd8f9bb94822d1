public import Bytes
import ResponseStorage

/// What a monitoring system is told of a cache.
public struct CacheMetrics: Hashable, Sendable {
  /// What came of the last command that changes caches.
  public struct Run: Hashable, Sendable {
    /// When it ended.
    public var time: Timestamp
    /// Whether it ended with the status 0.
    public var isSuccess: Bool
    /// How long it took, in seconds.
    public var durationSeconds: Double
    /// The number of entries that it removed.
    public var removedEntries: Int64
    /// The sizes of their bodies, in bytes.
    public var removedBytes: ByteCount
    /// The number of entries and files that were to go, and were left as it was stopped.
    public var left: Int64
    /// Whether nothing was done, as it was not the moment for it.
    public var isSkipped: Bool

    /// Creates a run.
    public init(
      time: Timestamp, isSuccess: Bool, durationSeconds: Double, removedEntries: Int64,
      removedBytes: ByteCount, left: Int64 = 0, isSkipped: Bool = false
    ) {
      self.time = time
      self.isSuccess = isSuccess
      self.durationSeconds = durationSeconds
      self.removedEntries = removedEntries
      self.removedBytes = removedBytes
      self.left = left
      self.isSkipped = isSkipped
    }
  }

  /// What the cache is called: its name, or else its path.
  public var cache: String
  /// What is in it, grouped by freshness; `nil` if it could not be measured.
  public var usage: UsageReport?
  /// What it may take up, in bytes, if that is known.
  public var capacityBytes: ByteCount?
  /// The last run, if it is one.
  public var run: Run?

  /// Creates metrics of a cache that nothing is known of.
  public init(cache: String) {
    self.cache = cache
  }
}
