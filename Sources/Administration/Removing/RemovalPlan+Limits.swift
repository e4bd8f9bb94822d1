public import Bytes
import Files
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
  ///   - temporaryFolder: The folder for unnamed files, which many entries need.
  /// - Complexity: O(*n* log *k*) time, where *n* is the number of entries that may be removed, and *k* is the number of
  ///   entries that are removed.
  public init(
    enforcing limits: CacheLimits, on source: any ResponseSource, among selection: Selection,
    by rules: EntryRules = EntryRules(), keeping pins: EntryNames = EntryNames(), now: Timestamp,
    clock: Timestamp? = nil, temporaryFolder: String
  ) throws {
    self.init(of: source.description, temporaryFolder: temporaryFolder)
    footprint = try source.footprint()
    // The URLs of a database can be read again for the removed entries alone.
    let namesLater = store.format.hasDatabase && selection.names == nil
    let basis = SelectionTally.Basis(
      selection: selection, rules: rules, pins: pins, now: now,
      decoding: limits.projection(ageBasis: selection.ageBasis), naming: !namesLater)
    var removable = RemovableEntries(
      by: limits, at: now, pageBytes: footprint.pageBytes, temporaryFolder: temporaryFolder)
    // What is known before reading the entries gives an upper bound of what has to be removed.
    let most = (try? source.count()) ?? .max
    (storedEntries, inlineBytes) = (most, .max)
    var queue = queue(in: limits, until: LimitExcess(limits, of: self))
    try count(source, by: basis) { if try removable.insert($0) { try queue.insert($0) } }
    // A damaged index has fewer entries than its table.
    let isBound = storedEntries <= most
    for (reason, entries) in removable.kept { keep(entries, because: reason) }
    bytesToFree = limits.bytesToFree ?? 0
    if exceedsRoom(of: limits) {
      survey = try source.orphans(at: clock ?? now)
      orphans = survey.files
    }
    var excess = LimitExcess(limits, of: self)
    // With `onlyIfOver`, ages and body sizes do not matter as long as the totals are within the limits.
    guard !limits.onlyIfOver || excess.isOver else {
      keep(kept.removeValue(forKey: .keptByRule) ?? KeptEntries(), because: .withinLimits)
      keep(removable.all, because: .withinLimits)
      // Even without removing anything, the log of another process may be too large.
      needsSimulation = store.inUse && exceedsRoom(of: limits)
      return
    }
    // Leftovers of a crash count for no size limit, but removing them frees space.
    if bytesToFree > 0 { try addLeftovers(to: &excess, &removable) }
    let reach = LimitReach(of: self, removing: removable.sizes)
    let unmet = reach.unmet(of: limits)
    if !unmet.isEmpty {
      // Removing everything that may be removed without meeting the limit would empty the cache for
      // nothing.
      guard limits.isBestEffort else {
        keep(removable.all, because: .withinLimits)
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
    if !isBound {
      // The queue may lack entries, so read them again.
      queue = self.queue(in: limits, until: excess)
      var none = EntryNames()
      _ = try SelectionTally.all(of: source, by: basis, measuringKept: true, absent: &none) {
        if removable.isUndecided($0) { try queue.insert($0) }
      }
    }
    try remove(&removable, and: &queue, until: &excess, by: rules)
    meetsLimits = excess.isWithinLimits && unmet.isEmpty
    // Removing an entry makes the log longer while another process has the cache open.
    if store.inUse, limits.bytes != nil, !isEmpty { needsSimulation = true }
    if namesLater {
      // The fields decoded along with the URL can decide how the entry is identified.
      try nameEntries(
        from: source, selection.projection.union(rules.projection).union([.key, .url]))
    }
  }

  /// Creates an empty queue.
  private func queue(in limits: CacheLimits, until excess: LimitExcess) -> RemovalQueue {
    RemovalQueue(in: limits, until: excess, temporaryFolder: temporaryFolder)
  }

  /// Plans to remove what is decided, and then entries in the order of removal, until the cache is within its limits.
  ///
  /// - Parameter queue: The first of the other entries in that order.
  private mutating func remove(
    _ removable: inout RemovableEntries, and queue: inout RemovalQueue,
    until excess: inout LimitExcess, by rules: EntryRules
  ) throws {
    var within = removable.all
    // First what is removed regardless of the totals, because that alone may bring the totals
    // within their limits.
    var decided = try removable.decide(by: rules) { try queue.insert($0) }
    var first = SpooledList<Entry>.Writer(in: temporaryFolder)
    while let entry = try decided.next() {
      excess.remove(entry)
      within.remove(entry.size)
      try first.append(entry)
    }
    var all = SpooledSort<Entry>(in: temporaryFolder) { $0.version.id < $1.version.id }
    try all.insert(sorted: try first.finish())
    try queue.removeNeeded(updating: &excess) { entry in
      within.remove(entry.size)
      try all.insert(entry)
    }
    keep(within, because: .withinLimits)
    var removed = try all.removeAll()
    entries = try EntryList(&removed, in: temporaryFolder)
      .merging(entries, in: temporaryFolder)
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
  private mutating func addLeftovers(
    to excess: inout LimitExcess, _ removable: inout RemovableEntries
  ) throws {
    var leftovers: [Entry] = []
    for version in survey.leftovers {
      leftovers.append(
        Entry(
          version: version, url: nil, size: nil, hasBodyFile: false, isOrphan: true,
          reason: .orphan))
      let size = version.file?.size ?? 0
      removable.insertLeftover(size)
      excess.returnLeftover(size)
      kept[.orphan]?.remove(nil)
    }
    if kept[.orphan]?.entries == 0 { kept[.orphan] = nil }
    leftovers.sort { $0.version.id < $1.version.id }
    entries = try EntryList(leftovers, in: temporaryFolder)
  }

  /// Sets the URLs and keys of all entries.
  private mutating func nameEntries(
    from source: any ResponseSource, _ projection: Projection
  ) throws {
    var unnamed = entries.makeReader()
    var named = EntryList.Writer(in: temporaryFolder)
    while true {
      var part = try unnamed.next(4_096)
      if part.isEmpty { break }
      // Entries and responses are both in ascending order of ids, so one pass is enough.
      var place = 0
      try source.forEachResponse(of: part.map(\.version.id), projection) { response in
        while place < part.count, part[place].version.id < response.id { place += 1 }
        guard place < part.count, part[place].version.id == response.id else { return .next }
        part[place].name(as: response)
        return .next
      }
      for entry in part { try named.append(entry) }
    }
    entries = try named.finish()
  }

  /// Counts entries as kept.
  private mutating func keep(_ entries: KeptEntries, because reason: KeepReason) {
    if entries.entries > 0 { kept[reason, default: KeptEntries()].insert(entries) }
  }
}
