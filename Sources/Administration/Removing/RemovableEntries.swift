import Bytes
import ResponseStorage

/// The entries of a cache that its limits may remove, divided by what decides about them.
///
/// There may be millions, so only those stay in memory that something besides the totals of the cache decides about.
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

  /// The entries that are removed in any case, and those with a rule that limits their number or size, with the reason
  /// ``RemovalPlan/Reason/selected``.
  private(set) var decided: [RemovalPlan.Entry] = []
  /// The sizes of all entries that may be removed.
  private(set) var sizes: RemovableSizes
  /// The entries that may not be removed, by reason.
  private(set) var kept: [KeepReason: KeptEntries] = [:]
  private let limits: CacheLimits
  private let ageLimit: AgeLimit?

  init(by limits: CacheLimits, at now: Timestamp, pageBytes: ByteCount) {
    self.limits = limits
    ageLimit = limits.age.map { AgeLimit($0, at: now) }
    sizes = RemovableSizes(pageBytes: pageBytes)
  }

  /// Adds a selected entry, and returns whether the totals of the cache decide about it, so that it is not in
  /// ``decided``.
  mutating func insert(_ entry: RemovalPlan.Entry) -> Bool {
    let decision = decision(on: entry)
    if case .keep(let reason) = decision {
      kept[reason, default: KeptEntries()].insert(entry.size)
      return false
    }
    sizes.insert(entry)
    switch decision {
    case .remove(let reason):
      decided.append(entry)
      decided[decided.count - 1].reason = reason
    case .compare: decided.append(entry)
    case .totals: return true
    case .keep: break
    }
    return false
  }

  /// Adds a file that a crash left.
  mutating func insertLeftover(_ size: ByteCount) { sizes.insertLeftover(size) }

  /// Decides which of the entries are removed whose number or size a rule limits.
  mutating func decide(by rules: EntryRules) {
    // Before the totals: what a rule limits is removed in any case, and may bring the whole cache
    // within its limits.
    let beyond = rules.beyondLimits(decided, in: limits)
    for index in decided.indices where decided[index].reason == .selected {
      let entry = decided[index]
      decided[index].reason =
        beyond[entry.version.id] ?? limits.reason(toRemove: entry, olderThan: ageLimit) ?? .selected
    }
  }

  /// All entries that may be removed.
  var all: KeptEntries { KeptEntries(entries: sizes.entries, bodyBytes: sizes.bodyBytes) }

  /// Whether the totals of the cache decide about an entry, so that it is not in ``decided``.
  func isUndecided(_ entry: RemovalPlan.Entry) -> Bool {
    if case .totals = decision(on: entry) { true } else { false }
  }

  private func decision(on entry: RemovalPlan.Entry) -> Decision {
    // Foundation does not count these files either.
    if entry.isOrphan { return .keep(.orphan) }
    let fate = entry.verdict?.fate
    if fate == .keep { return .keep(.keptByRule) }
    if let reason = fate?.reason { return .remove(reason) }
    if fate == .limit { return .compare }
    return limits.reason(toRemove: entry, olderThan: ageLimit).map { .remove($0) } ?? .totals
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
