import Bytes
import Files
import ResponseStorage

/// The entries that come first in the order of removal, as many as a cache over its limits has to lose.
///
/// Memory does not grow with the number of entries: sorted runs are kept in an unnamed file.
///
/// - Complexity: O(*n* log *k*) time, where *n* is the number of inserted entries, and *k* is the number of removed
///   entries.
struct RemovalQueue {
  private let limits: CacheLimits
  /// How far the cache is over its limits before the first of the entries is removed, or more than that.
  private let excess: LimitExcess
  private let temporaryFolder: String
  /// The maximum number of entries in memory.
  private let most: Int
  private var entries: [RemovalPlan.Entry] = []
  /// An entry that stays, and with it all that come later in the order.
  private var kept: RemovalPlan.Entry?
  /// The number of entries that are collected before those that stay are dropped.
  private var capacity: Int
  /// The sorted runs of earlier entries.
  private var runs: [SpooledList<RemovalPlan.Entry>] = []
  private var file: SpoolFile?
  /// The number of entries in the runs from which those that stay are dropped.
  private var runCapacity: Int

  /// The number of entries beyond the needed ones that are collected before they are sorted.
  private static let spare = 16_384

  /// - Parameters:
  ///   - temporaryFolder: The folder for unnamed files, which many entries need.
  ///   - most: The maximum number of entries in memory.
  init(
    in limits: CacheLimits, until excess: LimitExcess, temporaryFolder: String,
    atMost most: Int = 65_536
  ) {
    (self.limits, self.excess, self.most) = (limits, excess, most)
    self.temporaryFolder = temporaryFolder
    (capacity, runCapacity) = (min(Self.spare, most), most)
  }

  /// Adds an entry, if it may have to be removed.
  mutating func insert(_ entry: RemovalPlan.Entry) throws(FileError) {
    if let kept, !limits.precedes(entry, kept) { return }
    entries.append(entry)
    if entries.count >= capacity { try makeRoom() }
  }

  /// Drops entries that stay, or writes all of them to the file.
  private mutating func makeRoom() throws(FileError) {
    let needed = runs.isEmpty ? sort(until: excess) : most
    // Else it would be sorted again and again with few new ones.
    guard needed < most - most / 4 else { return try endRun() }
    // One more than needed: the sums of the sizes are not exact, and depend on their order.
    if needed < entries.count { kept = entries[needed] }
    if needed + 1 < entries.count { entries.removeSubrange((needed + 1)...) }
    capacity = min(entries.count + entries.count / 8 + Self.spare, most)
    // An array that grows by itself doubles its memory.
    entries.reserveCapacity(capacity)
  }

  /// Sorts the entries, and returns how many of them have to be removed.
  private mutating func sort(until excess: LimitExcess) -> Int {
    entries.sort { limits.precedes($0, $1) }
    var excess = excess
    for (place, entry) in entries.enumerated() {
      if !excess.isOver { return place }
      excess.remove(entry)
    }
    return entries.count
  }

  private mutating func endRun() throws(FileError) {
    entries.sort { limits.precedes($0, $1) }
    if file == nil { file = try SpoolFile(in: temporaryFolder) }
    guard let file else { return }
    var run = SpooledList<RemovalPlan.Entry>.Writer(to: file, in: temporaryFolder)
    for entry in entries { try run.append(entry) }
    runs.append(try run.finish())
    entries.removeAll(keepingCapacity: true)
    capacity = most
    if runs.reduce(0, { $0 + $1.count }) > runCapacity { try mergeRuns() }
  }

  /// Makes one run of all, without the entries that stay.
  private mutating func mergeRuns() throws(FileError) {
    var merged = try removeAll()
    var excess = excess
    var run = SpooledList<RemovalPlan.Entry>.Writer(in: temporaryFolder)
    while let entry = try merged.next() {
      try run.append(entry)
      guard excess.isOver else {
        kept = entry
        break
      }
      excess.remove(entry)
    }
    runs = [try run.finish()]
    // If all are needed, merging them again soon would be in vain.
    runCapacity = 2 * run.count + most
  }

  /// Returns the entries to remove, in order, each with its reason, and empties the queue.
  ///
  /// - Parameters:
  ///   - excess: How far the cache is over its limits; on return, how far it is without the entries.
  ///   - receive: Called with each entry to remove.
  mutating func removeNeeded(
    updating excess: inout LimitExcess, _ receive: (RemovalPlan.Entry) throws -> Void
  ) throws {
    entries.sort { limits.precedes($0, $1) }
    var merged = try removeAll()
    while let reason = excess.reason, var entry = try merged.next() {
      entry.reason = reason
      excess.remove(entry)
      try receive(entry)
    }
  }

  /// Empties the queue, whose last run must be sorted, and returns its entries in order.
  private mutating func removeAll() throws(FileError) -> MergedRuns<RemovalPlan.Entry> {
    let limits = limits
    let merged = try MergedRuns(runs, entries) { limits.precedes($0, $1) }
    (runs, entries, file) = ([], [], nil)
    return merged
  }
}
