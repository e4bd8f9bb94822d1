public import Bytes
import ResponseStorage

/// The metrics of a cache for a monitoring system.
public struct CacheMetrics: Hashable, Sendable {
  /// The result of the last command that changes caches.
  public struct Run: Hashable, Sendable {
    /// The time at which it ended.
    public var time: Timestamp
    // Beside the number of removed entries: a failed run may have removed some, and a successful
    // one none.
    /// Whether it exited with status 0.
    public var isSuccess: Bool
    /// The duration, in seconds.
    public var durationSeconds: Double
    /// The number of removed entries.
    public var removedEntries: Int64
    /// The total size of their bodies, in bytes.
    public var removedBytes: ByteCount
    /// The number of entries and files left because the command was stopped.
    public var left: Int64
    /// Whether the run was skipped.
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

  /// The name of the cache, or else its path.
  public var cache: String
  /// The contents, grouped by freshness; `nil` if they could not be measured.
  public var usage: UsageReport?
  /// The maximum size on disk, in bytes, if known.
  public var capacityBytes: ByteCount?
  /// The last run, if there was one.
  public var run: Run?

  /// Creates metrics of a cache without data.
  public init(cache: String) {
    self.cache = cache
  }
}
