public import Bytes
public import ResponseStorage

extension RemovalPlan {
  /// Plans to remove what exceeds the limits of a cache.
  ///
  /// Orphans are removed first, then free pages are reclaimed, and only then entries are removed. If removing
  /// everything that may be removed is not enough, the plan is empty and ``shortfall`` contains the causes.
  ///
  /// An entry with a file frees that file. Otherwise it frees its body and its share of the rest of the database,
  /// without what an empty database needs. Free pages count as freed, because the removal is followed by a compaction.
  /// Entries that `URLCache` does not see count for no limit and are kept.
  ///
  /// - Parameters:
  ///   - rules: The rules that keep or remove entries regardless of the limits.
  ///   - pins: The entries that are always kept; they count.
  ///   - selection: The entries that may be removed; all others are kept, and count.
  ///   - now: The time that ages are relative to.
  ///   - clock: The system time, for the age of files; `nil` for `now`.
  /// - Complexity: O(*n* log *n*) time and O(*n*) memory, where *n* is the number of entries that may be removed.
  public init(
    enforcing limits: CacheLimits, on source: any ResponseSource, among selection: Selection,
    by rules: EntryRules = EntryRules(), keeping pins: EntryNames = EntryNames(), now: Timestamp,
    clock: Timestamp? = nil
  ) throws {
    // Start with everything that may be removed, and drop what may be kept. A plan may have a million entries, so
    // nothing is copied: until the end, the reason `selected` marks a kept entry, and only removed entries get their
    // URL and key, if they can be read again.
    let hasDatabase = source.description.format.hasDatabase
    try self.init(
      removing: selection, from: source, now: now,
      decoding: limits.projection(ageBasis: selection.ageBasis), by: rules, keeping: pins,
      measuringKept: true, naming: !hasDatabase || selection.names != nil)
    bytesToFree = limits.bytesToFree ?? 0
    // Foundation does not count these files either.
    keep(because: .orphan) { $0.isOrphan }
    if exceedsRoom(of: limits) {
      survey = try source.orphans(at: clock ?? now)
      orphans = survey.files
    }
    var excess = LimitExcess(limits, of: self)
    // With `onlyIfOver`, ages and body sizes do not matter as long as the totals are within the limits.
    guard !limits.onlyIfOver || excess.isOver else {
      keep(because: .withinLimits) { _ in true }
      // Even without removing anything, the log of another process may be too large.
      needsSimulation = store.inUse && exceedsRoom(of: limits)
      return
    }
    keep(because: .keptByRule) { $0.verdict?.fate == .keep }
    // Leftovers of a crash count for no size limit, but removing them frees space.
    if (limits.bytesToFree ?? 0) > 0 { addLeftovers(to: &excess) }
    let reach = LimitReach(of: self)
    let unmet = reach.unmet(of: limits)
    if !unmet.isEmpty {
      // Removing everything that may be removed without meeting the limit would empty the cache for
      // nothing.
      guard limits.isBestEffort else {
        refuse(unmet)
        return
      }
      shortfall = LimitShortfall(unmet, of: self, survey)
    }
    needsSimulation =
      store.format.hasDatabase && reach.isUnknown(of: limits)
      && (excess.needsRoom || store.inUse && exceedsRoom(of: limits))
    // A low mark is a wish for some room, and no reason to empty a cache that is within its limit.
    excess.limitMarks(to: reach, of: self)
    // Before the totals: what a rule limits is removed in any case, and may bring the whole cache
    // within its limits.
    let beyond = rules.beyondLimits(entries, in: limits)
    let ageLimit = limits.age.map { AgeLimit($0, at: now) }
    // First what is removed regardless of the totals, because that alone may bring the totals
    // within their limits.
    for index in entries.indices where entries[index].reason != .orphan {
      guard
        let reason = entries[index].verdict?.fate.reason ?? beyond[entries[index].version.id]
          ?? limits.reason(toRemove: entries[index], olderThan: ageLimit)
      else { continue }
      entries[index].reason = reason
      excess.remove(entries[index])
    }
    if excess.isOver {
      for index in placesOfRemovable(in: limits) {
        guard let reason = excess.reason else { break }
        entries[index].reason = reason
        excess.remove(entries[index])
      }
    }
    keep(because: .withinLimits) { $0.reason == .selected }
    // An array keeps its capacity when elements are removed; copy it to free that memory.
    if entries.count < entries.capacity / 8 * 7 { entries = entries.map { $0 } }
    meetsLimits = excess.isWithinLimits && unmet.isEmpty
    // Removing an entry makes the log longer while another process has the cache open.
    if store.inUse, limits.bytes != nil, !isEmpty { needsSimulation = true }
    if hasDatabase, selection.names == nil {
      // The fields decoded along with the URL can decide how the entry is identified.
      try nameEntries(
        from: source, selection.projection.union(rules.projection).union([.key, .url]))
    }
  }

  /// Whether the files exceed the size limit, or the file system lacks space, after the processes that have the cache
  /// open now have closed it.
  func exceedsRoom(of limits: CacheLimits) -> Bool {
    let kept = store.inUse ? footprint.totalBytes : footprint.closedBytes
    let returned = max(0, footprint.totalBytes - kept)
    return limits.bytes.map { kept > $0 } ?? false
      || limits.bytesToFree.map { $0 > returned } ?? false
  }

  /// Plans to remove the files that a crash left in a store of files, because they occupy space.
  private mutating func addLeftovers(to excess: inout LimitExcess) {
    guard !survey.leftovers.isEmpty else { return }
    for version in survey.leftovers {
      entries.append(
        Entry(
          version: version, url: nil, size: nil, hasBodyFile: false, isOrphan: true,
          reason: .orphan))
      excess.returnLeftover(version.file?.size ?? 0)
      kept[.orphan]?.removeOne()
    }
    if kept[.orphan]?.entries == 0 { kept[.orphan] = nil }
    entries.sort { $0.version.id < $1.version.id }
  }

  /// Sets the URLs and keys of all entries.
  private mutating func nameEntries(
    from source: any ResponseSource, _ projection: Projection
  ) throws {
    // Entries and responses are both in ascending order of ids, so one pass is enough.
    var place = 0
    try source.forEachResponse(of: entries.map(\.version.id), projection) { response in
      while place < entries.count, entries[place].version.id < response.id { place += 1 }
      guard place < entries.count, entries[place].version.id == response.id else { return .next }
      entries[place].name(as: response)
      return .next
    }
  }

  /// Returns the indices of the entries that only limits remove, in order of removal.
  private func placesOfRemovable(in limits: CacheLimits) -> [Int] {
    var places = entries.indices.filter { entries[$0].reason == .selected }
    places.sort { limits.precedes(entries[$0], entries[$1]) }
    return places
  }

  /// Drops entries from the plan, and counts them as kept.
  private mutating func keep(because reason: KeepReason, where stays: (Entry) -> Bool) {
    var sum = kept[reason] ?? KeptEntries()
    entries.removeAll { entry in
      let isKept = stays(entry)
      if isKept { sum.insert(entry.size) }
      return isKept
    }
    if sum.entries > 0 { kept[reason] = sum }
  }
}

extension CacheLimits {
  /// Why an entry is removed on its own account; `nil` if only the totals of the cache can remove it.
  fileprivate func reason(
    toRemove entry: RemovalPlan.Entry, olderThan ageLimit: AgeLimit?
  ) -> RemovalPlan.Reason? {
    if let time = entry.time, ageLimit?.isExceeded(by: time) ?? false { return .tooOld }
    if let entryBytes, let size = entry.size, size > entryBytes { return .tooLarge }
    return nil
  }
}
