import ResponseStorage

/// The entries that come first in the order of removal, as many as a cache over its limits has to lose.
///
/// - Complexity: O(*n* log *k*) time and O(*k*) memory, where *n* is the number of inserted entries, and *k* is the
///   number of removed entries.
struct RemovalQueue {
  private let limits: CacheLimits
  /// How far the cache is over its limits before the first of the entries is removed, or more than that.
  private let excess: LimitExcess
  /// The maximum number of entries to keep in memory.
  private let most: Int
  private var entries: [RemovalPlan.Entry] = []
  /// An entry that stays, and with it all that come later in the order.
  private var kept: RemovalPlan.Entry?
  /// The number of entries that are collected before those that stay are dropped.
  private var capacity = spare
  /// Whether more entries than ``most`` may have to be removed, or their number is unknown; it then has none.
  private(set) var hasOverflowed = false

  /// The number of entries beyond the needed ones that are collected before they are sorted.
  private static let spare = 16_384

  init(in limits: CacheLimits, until excess: LimitExcess, atMost most: Int = .max) {
    (self.limits, self.excess, self.most) = (limits, excess, most)
  }

  /// Adds an entry, if it may have to be removed.
  mutating func insert(_ entry: RemovalPlan.Entry) {
    if hasOverflowed { return }
    if let kept, !limits.precedes(entry, kept) { return }
    entries.append(entry)
    guard entries.count >= capacity else { return }
    let needed = sort(until: excess)
    guard needed <= most else {
      overflow()
      return
    }
    // One more than needed: the sums of the sizes are not exact, and depend on their order.
    if needed < entries.count { kept = entries[needed] }
    if needed + 1 < entries.count { entries.removeSubrange((needed + 1)...) }
    capacity = entries.count + entries.count / 8 + Self.spare
    // An array that grows by itself doubles its memory.
    entries.reserveCapacity(capacity)
  }

  /// Drops all entries: the queue cannot tell which come first.
  mutating func overflow() { (entries, hasOverflowed) = ([], true) }

  /// Returns the entries to remove, in order, each with its reason, and empties the queue.
  ///
  /// - Parameter excess: How far the cache is over its limits; on return, how far it is without the entries.
  mutating func removeNeeded(updating excess: inout LimitExcess) -> [RemovalPlan.Entry] {
    // There may be a million entries, so they get no second owner, which would copy them.
    defer { entries = [] }
    entries.removeSubrange(sort(until: excess)...)
    for index in entries.indices {
      entries[index].reason = excess.reason ?? entries[index].reason
      excess.remove(entries[index])
    }
    return entries
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
}
