import Bytes
import Files
import ResponseStorage
import SQLite

/// The entries of a cache that its limits may remove, divided by what decides about them.
///
/// Memory does not grow with the number of entries: they are kept in temporary databases.
struct RemovableEntries {
  /// What decides whether an entry is removed.
  private enum Decision {
    /// It is kept.
    case keep(KeepReason)
    /// It is removed in any case.
    case remove(RemovalPlan.Reason)
    /// A rule limits the number or size of entries like this one.
    case compare
    /// The totals of the cache, and its place in the order of removal.
    case totals
  }

  /// The sizes of all entries that may be removed.
  private(set) var sizes = RemovableSizes()
  /// The entries that may not be removed, by reason.
  private(set) var kept: [KeepReason: KeptEntries] = [:]
  /// The entries that may be removed, by why they are kept if they are not removed.
  private(set) var remaining: RemainingEntries
  private let limits: CacheLimits
  private let ageLimit: AgeLimit?
  /// The entries that are removed in any case, in ascending order of ids.
  private var removed = Scratch.List<RemovalPlan.Entry>.Writer()
  /// The entries with a rule that limits their number or size: those of one rule follow each other, and of these the
  /// first to remove comes last.
  private var compared: Scratch.Sort<RemovalPlan.Entry>

  init(by limits: CacheLimits, at now: Timestamp) {
    self.limits = limits
    ageLimit = limits.age.map { AgeLimit($0, at: now) }
    remaining = RemainingEntries(by: limits)
    compared = Scratch.Sort(
      descending: [false] + Array(repeating: true, count: RemovalPlace.keyCount))
  }

  /// Adds a selected entry.
  ///
  /// - Returns: Whether the totals of the cache decide about it; it is then not kept here.
  mutating func insert(_ entry: RemovalPlan.Entry) throws(FileError) -> Bool {
    let decision = decision(on: entry)
    if case .keep(let reason) = decision {
      kept[reason, default: KeptEntries()].insert(entry.size)
      return false
    }
    sizes.insert(entry)
    remaining.insert(entry)
    switch decision {
    case .remove(let reason):
      var entry = entry
      (entry.reason, entry.isByRule) = (reason, entry.verdict?.fate.reason != nil)
      try removed.append(entry)
    case .compare:
      let rule = Int64(entry.verdict?.rule ?? 0)
      try compared.insert(entry, by: [.integer(rule)] + limits.place(of: entry).scratchKeys)
    case .totals: return true
    case .keep: break
    }
    return false
  }

  /// Removes all entries, and decides about those whose number or size a rule limits.
  ///
  /// Before the totals: what a rule limits is removed in any case, and may bring the whole cache within its limits.
  ///
  /// - Parameter leave: Called with each entry about which the totals of the cache decide after all.
  /// - Returns: The entries that are removed regardless of the totals, in ascending order of ids, each with its reason.
  mutating func decide(
    by rules: EntryRules, leaving leave: (RemovalPlan.Entry) throws -> Void
  ) throws -> MergedEntries {
    var others = Scratch.Sort<RemovalPlan.Entry>()
    var merged = try compared.removeAll()
    var count = RuleLimitCount(of: rules)
    while var entry = try merged.next() {
      let ofRule = count.insert(entry)
      if let reason = ofRule ?? limits.reason(toRemove: entry, olderThan: ageLimit) {
        (entry.reason, entry.isByRule) = (reason, ofRule != nil)
        try others.insert(entry, by: entry.version.id.scratchKey)
      } else {
        try leave(entry)
      }
    }
    return try MergedEntries(removed.finish().makeReader(), others.removeAll())
  }

  /// All entries that may be removed.
  var all: KeptEntries { KeptEntries(entries: sizes.entries, bodyBytes: sizes.bodyBytes) }

  /// Whether the totals of the cache decide about an entry.
  func isUndecided(_ entry: RemovalPlan.Entry) -> Bool {
    if case .totals = decision(on: entry) { true } else { false }
  }

  private func decision(on entry: RemovalPlan.Entry) -> Decision {
    let fate = entry.verdict?.fate
    if fate == .keep { return .keep(.keptByRule) }
    if let reason = fate?.reason { return .remove(reason) }
    if fate == .limit { return .compare }
    return limits.reason(toRemove: entry, olderThan: ageLimit).map { .remove($0) } ?? .totals
  }
}

/// The entries that a plan may remove and did not remove so far, by the reason for which they are kept.
struct RemainingEntries {
  /// The entries of known age, or without a limit on it.
  private(set) var withinLimits = KeptEntries()
  /// The entries for which a limit or a rule has a maximum age, and whose age is unknown.
  private(set) var unknownAge = KeptEntries()
  private let limitsAge: Bool

  /// Creates an empty collection.
  init(by limits: CacheLimits) { limitsAge = limits.age != nil }

  /// Adds an entry.
  mutating func insert(_ entry: RemovalPlan.Entry) {
    if isAgeUnknown(of: entry) {
      unknownAge.insert(entry.size)
    } else {
      withinLimits.insert(entry.size)
    }
  }

  /// Takes out an entry, which is removed.
  mutating func remove(_ entry: RemovalPlan.Entry) {
    if isAgeUnknown(of: entry) {
      unknownAge.remove(entry.size)
    } else {
      withinLimits.remove(entry.size)
    }
  }

  private func isAgeUnknown(of entry: RemovalPlan.Entry) -> Bool {
    entry.isAgeUnknown || limitsAge && entry.time == nil
  }
}

extension CacheLimits {
  /// Why an entry is removed on its own account; `nil` if only the totals of the cache can remove it.
  func reason(
    toRemove entry: RemovalPlan.Entry, olderThan ageLimit: AgeLimit?
  ) -> RemovalPlan.Reason? {
    if let time = entry.time, ageLimit?.isExceeded(by: time) ?? false { return .tooOld }
    if let entryBytes, let size = entry.size, size > entryBytes { return .tooLarge }
    return nil
  }
}

/// The sizes of the entries that a plan may remove, added up.
struct RemovableSizes {
  /// The number of entries that count for limits.
  private(set) var entries: Int64 = 0
  /// Their bodies, in bytes.
  private(set) var bodyBytes: ByteCount = 0
  /// The space that they take.
  private(set) var space = SpaceInUse()

  /// Adds an entry.
  mutating func insert(_ entry: RemovalPlan.Entry) {
    entries += 1
    bodyBytes += entry.size ?? 0
    space.insert(entry.share)
  }
}
