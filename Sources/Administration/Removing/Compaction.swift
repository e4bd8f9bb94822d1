import Bytes
public import ResponseStorage

/// The result of compacting a cache.
public struct Compaction: Hashable, Sendable {
  /// The store.
  public var store: StoreDescription
  /// The sizes before.
  public var before: Footprint
  /// The sizes after; `nil` if nothing was done, as in a dry run.
  public var after: Footprint?
  /// The method used; `nil` in a dry run.
  public var method: CompactionMethod?
  /// Why free space is left, if the compaction was stopped.
  public var stopReason: StopReason?
  /// The number of files without an entry that were removed first, or would be in a dry run.
  public var orphans = 0
  /// What was done so that nothing can be recovered; `nil` if that was not requested.
  public var erasure: ErasureReceipt?

  /// Creates a compaction that has not run yet.
  public init(store: StoreDescription, before: Footprint) {
    self.store = store
    self.before = before
  }

  /// Whether compacting frees at least the given share of the database file.
  ///
  /// - Parameter percent: The share, in percent; even 0 requires that something can be freed.
  public func isWorthwhile(above percent: Double) -> Bool {
    // The log of an open cache disappears only when its last process closes it.
    let log = store.inUse ? 0 : before.reclaimableLogBytes
    let bytes = before.freeBytes + before.tailBytes + log
    // Multiplied and not divided, as a share of an empty file would be NaN.
    return bytes > 0 && Double(bytes) * 100 >= Double(before.databaseBytes) * percent
  }
}
