import Bytes
public import ResponseStorage

/// What giving free space back did to a cache.
public struct Compaction: Hashable, Sendable {
  /// The store.
  public var store: StoreDescription
  /// What it took up before.
  public var before: Footprint
  /// What it takes up now; `nil` if nothing was done, as in a dry run.
  public var after: Footprint?
  /// How it was done; `nil` in a dry run.
  public var method: CompactionMethod?
  /// Why something is still free, if it was stopped.
  public var stopReason: StopReason?

  /// Creates a compaction that is yet to be done.
  public init(store: StoreDescription, before: Footprint) {
    self.store = store
    self.before = before
  }

  /// Whether at least a share of the database file can be given back.
  ///
  /// - Parameter percent: The share, in percent; nothing is never enough.
  public func isWorthwhile(above percent: Double) -> Bool {
    let log = store.inUse ? 0 : before.reclaimableLogBytes
    let bytes = before.freeBytes + before.tailBytes + log
    return bytes > 0 && Double(bytes) * 100 >= Double(before.databaseBytes) * percent
  }
}
