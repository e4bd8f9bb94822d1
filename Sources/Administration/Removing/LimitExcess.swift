import Bytes
import ResponseStorage

/// How far a cache is over its limits, updated with each removed entry.
///
/// Everything is a sum over entries of one reading, which no other process can change. So the entries that a plan removes depend on the
/// rows, the limits, the rules and the pins alone, and a second run removes nothing more.
struct LimitExcess {
  private let limits: CacheLimits
  /// The space that the entries take, which nothing else takes.
  private var space: SpaceInUse
  /// The rest of the space in use: tables, indexes and orphans.
  private var otherBytes: ByteCount
  private var entries: Int64
  /// What the file system lacks; below zero if it has more than enough.
  private var bytesToFree: ByteCount
  // Where the removal may stop: at the limit itself, or at the low mark if the limit is exceeded.
  private var lowBytes: ByteCount
  private var lowEntries: Int64

  /// Creates the state before anything is removed.
  init(_ limits: CacheLimits, of plan: RemovalPlan) {
    self.limits = limits
    space = plan.space
    otherBytes = plan.fixedBytes + plan.orphansInUse
    entries = plan.storedEntries
    bytesToFree = plan.bytesToFree
    (lowBytes, lowEntries) = (limits.bytes ?? .max, limits.entries ?? .max)
  }

  /// Creates a state before anything is known of the entries, which is over the limits by at least as much as the cache is.
  ///
  /// The caller compares ``inUse`` and ``entries`` with those of the cache later: of a damaged cache, less is known.
  init(bounding limits: CacheLimits, of plan: RemovalPlan) {
    self.init(limits, of: plan)
    let footprint = plan.footprint
    let pages = footprint.databaseBytes + footprint.growthBytes - footprint.freeBytes
    // Rows that fit badly into pages take a few percent more by their shares than they do.
    otherBytes = plan.orphansInUse + pages + pages / 8 + footprint.bodyFilesBytes
    settleMarks(leastBytes: 0, leastEntries: 0)
  }

  /// Whether a state that bounds another one does so.
  func bounds(_ other: LimitExcess) -> Bool { inUse >= other.inUse && entries >= other.entries }

  /// The space in use, in bytes.
  private var inUse: ByteCount { space.bytes + otherBytes }

  /// Whether the limits themselves are exceeded, regardless of the low mark.
  var exceedsLimits: Bool {
    bytesToFree > 0 || limits.entries.map { entries > $0 } ?? false || exceedsSize
  }

  /// Whether orphans have to be removed.
  ///
  /// - Parameter areCounted: Whether they are part of the space in use.
  func needsRoom(ofOrphans areCounted: Bool) -> Bool {
    exceedsSize && areCounted || bytesToFree > 0
  }

  private var exceedsSize: Bool { limits.bytes.map { inUse > $0 } ?? false }

  /// Sets where the removal may stop, after everything that is removed regardless of the totals.
  ///
  /// A low mark is a wish for some room. If it cannot be reached, the limit counts: removing entries in vain helps no one.
  mutating func settleMarks(leastBytes: ByteCount, leastEntries: Int64) {
    if let limit = limits.bytes, inUse > limit {
      let low = limits.low(limit)
      lowBytes = leastBytes > low ? limit : low
    }
    if let limit = limits.entries, entries > limit {
      let low = limits.low(limit)
      lowEntries = leastEntries > low ? limit : low
    }
  }

  /// Whether more has to be removed.
  var isOver: Bool { reason != nil }

  /// Why the next entry has to be removed.
  var reason: RemovalPlan.Reason? {
    if entries > lowEntries { return .overEntries }
    if inUse > lowBytes { return .overSize }
    if bytesToFree > 0 { return .minimumFree }
    return nil
  }

  mutating func remove(_ entry: RemovalPlan.Entry) {
    bytesToFree -= space.remove(entry.share)
    entries -= 1
  }

  /// Removes several entries at once.
  mutating func remove(_ removable: RemovableSizes) {
    let before = space.bytes
    space.remove(removable.space)
    bytesToFree -= before - space.bytes
    entries -= removable.entries
  }

  /// Removes all orphans.
  mutating func removeOrphans(of plan: RemovalPlan) {
    otherBytes -= plan.orphansInUse
    bytesToFree -= plan.survey.bytes
  }

  /// Returns the limits that are exceeded.
  ///
  /// - Parameter wanted: What had to be freed on the file system, in bytes.
  func unmet(toFree wanted: ByteCount) -> [UnmetLimit] {
    var unmet = limits.unmet(bytes: inUse, entries: entries)
    if bytesToFree > 0 {
      let reachable = max(0, wanted - bytesToFree)
      unmet.append(
        UnmetLimit(kind: .bytesToFree, limit: wanted.bytes, reachable: reachable.bytes))
    }
    return unmet
  }

  /// The space in use and the number of entries, for ``settleMarks(leastBytes:leastEntries:)``.
  var totals: (bytes: ByteCount, entries: Int64) { (inUse, entries) }
}
