import Bytes
import Files
import ResponseStorage
import SQLite

/// The entries that come first in the order of removal, as many as a cache over its limits has to lose.
///
/// A few of them are in memory; if more are needed, all are sorted in a temporary database.
///
/// - Complexity: O(*n* log *k*) time, where *n* is the number of inserted entries, and *k* is the number of removed
///   entries.
struct RemovalQueue {
  private typealias Item = (place: RemovalPlace, entry: RemovalPlan.Entry)

  private let limits: CacheLimits
  /// How far the cache is over its limits before the first of the entries is removed, or more than that.
  private let excess: LimitExcess
  /// The maximum number of entries in memory.
  private let most: Int
  private var items: [Item] = []
  /// An entry that stays, and with it all that come later in the order.
  private var kept: RemovalPlace?
  /// The number of entries that are collected before those that stay are dropped.
  private var capacity: Int
  /// All entries, if they are too many for memory.
  private var sort: Scratch.Sort<RemovalPlan.Entry>?

  /// The number of entries beyond the needed ones that are collected before they are sorted.
  private static let spare = 16_384

  /// - Parameter most: The maximum number of entries in memory.
  init(in limits: CacheLimits, until excess: LimitExcess, atMost most: Int = 65_536) {
    (self.limits, self.excess, self.most) = (limits, excess, most)
    capacity = min(Self.spare, most)
  }

  /// Adds an entry, if it may have to be removed.
  mutating func insert(_ entry: RemovalPlan.Entry) throws(FileError) {
    let place = limits.place(of: entry)
    if let kept, place >= kept { return }
    if sort != nil {
      try sort?.insert(entry, by: place.scratchKeys)
    } else {
      items.append((place, entry))
      if items.count >= capacity { try makeRoom() }
    }
  }

  /// Drops entries that stay, or moves all of them to the database.
  private mutating func makeRoom() throws(FileError) {
    let needed = neededCount()
    // Else it would be sorted again and again with few new ones.
    guard needed < most - most / 4 else { return try leaveMemory() }
    // One more than needed: the sums of the sizes are not exact, and depend on their order.
    if needed < items.count { kept = items[needed].place }
    if needed + 1 < items.count { items.removeSubrange((needed + 1)...) }
    capacity = min(items.count + items.count / 8 + Self.spare, most)
    // An array that grows by itself doubles its memory.
    items.reserveCapacity(capacity)
  }

  /// Sorts the entries in memory, and returns how many of them have to be removed.
  private mutating func neededCount() -> Int {
    items.sort { $0.place < $1.place }
    var excess = excess
    for (number, item) in items.enumerated() {
      if !excess.isOver { return number }
      excess.remove(item.entry)
    }
    return items.count
  }

  private mutating func leaveMemory() throws(FileError) {
    var sort = Scratch.Sort<RemovalPlan.Entry>(keys: RemovalPlace.keyCount)
    for item in items { try sort.insert(item.entry, by: item.place.scratchKeys) }
    (self.sort, items) = (sort, [])
  }

  /// Returns the entries to remove, in order, each with its reason, and empties the queue.
  ///
  /// - Parameters:
  ///   - excess: How far the cache is over its limits; on return, how far it is without the entries.
  ///   - receive: Called with each entry to remove.
  mutating func removeNeeded(
    updating excess: inout LimitExcess, _ receive: (RemovalPlan.Entry) throws -> Void
  ) throws {
    items.sort { $0.place < $1.place }
    var rest = items[...]
    var sorted = try sort?.removeAll()
    (items, sort) = ([], nil)
    while let reason = excess.reason, var entry = try sorted?.next() ?? rest.popFirst()?.entry {
      entry.reason = reason
      excess.remove(entry)
      try receive(entry)
    }
  }
}
