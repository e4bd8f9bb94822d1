public import Bytes
import Files
public import ResponseStorage
import SQLite

extension RemovalPlan {
  /// Plans to remove what exceeds the limits of a cache.
  ///
  /// First come the entries that an age, a body size or a rule decides about. If the cache still exceeds a limit of size, or the file system
  /// lacks space, all orphans follow, and then entries in the order of removal. If removing everything that may be removed is not enough,
  /// the plan is empty and ``shortfall`` contains the causes.
  ///
  /// What is planned depends on the entries, the limits, the rules and the pins, and on nothing else: see ``inUse``.
  ///
  /// - Parameters:
  ///   - rules: The rules that keep or remove entries regardless of the limits.
  ///   - pins: The entries that are always kept; they count.
  ///   - selection: The entries that may be removed; all others are kept, and count.
  ///   - now: The time that ages are relative to.
  ///   - clock: The system time, for the age of files; `nil` for `now`.
  /// - Complexity: O(*n* log *k*) time, where *n* is the number of entries that may be removed, and *k* is the number of
  ///   entries that are removed.
  public init(
    enforcing limits: CacheLimits, on source: any ResponseSource, among selection: Selection,
    by rules: EntryRules = EntryRules(), keeping pins: EntryNames = EntryNames(), now: Timestamp,
    clock: Timestamp? = nil
  ) throws {
    let limits = try limits.ordered(for: source.description)
    self.init(of: source.description)
    footprint = try source.footprint()
    measuresSpace = limits.measuresSpace
    fixedBytes = footprint.emptyBytes
    survey = try source.orphans(at: clock ?? now)
    // Free pages and the log are room that the file system gets back without removing an entry.
    lackedBytes = limits.bytesToFree ?? 0
    let returned = footprint.freeBytes + max(0, footprint.totalBytes - footprint.closedBytes)
    bytesToFree = max(0, lackedBytes - returned)
    // The URLs of a database can be read again for the removed entries alone.
    let namesLater = store.traits.hasDatabase && selection.names == nil
    let basis = SelectionTally.Basis(
      selection: selection, rules: rules, pins: pins, now: now,
      decoding: limits.projection(ageBasis: selection.ageBasis), naming: !namesLater)
    var removable = RemovableEntries(by: limits, at: now)
    // What is known before reading the entries gives an upper bound of what has to be removed.
    storedEntries = (try? source.count()) ?? .max
    let bound = LimitExcess(bounding: limits, of: self)
    var queue = RemovalQueue(in: limits, until: bound)
    try count(source, by: basis) { if try removable.insert($0) { try queue.insert($0) } }
    for (reason, entries) in removable.kept { keep(entries, because: reason) }
    var excess = LimitExcess(limits, of: self)
    // With `onlyIfOver`, ages and body sizes do not matter as long as the totals are within the limits.
    guard !limits.onlyIfOver || excess.exceedsLimits else {
      keep(kept.removeValue(forKey: .keptByRule) ?? KeptEntries(), because: .withinLimits)
      keep(removable.all, because: .withinLimits)
      return
    }
    if !bound.bounds(excess) {
      // A damaged index has fewer entries than its table. The queue may lack entries, so read them again.
      queue = RemovalQueue(in: limits, until: excess)
      var none = EntryNames()
      _ = try SelectionTally.all(of: source, by: basis, measuringKept: true, absent: &none) {
        if removable.isUndecided($0) { try queue.insert($0) }
      }
    }
    var least = excess
    least.remove(removable.sizes)
    let areCounted = orphansInUse > 0
    if least.needsRoom(ofOrphans: areCounted) || excess.needsRoom(ofOrphans: areCounted) {
      least.removeOrphans(of: self)
    }
    let unmet = least.unmet(toFree: bytesToFree)
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
    try remove(&removable, and: &queue, until: &excess, least: least, by: rules)
    meetsLimits = unmet.isEmpty
    if namesLater {
      // The fields decoded along with the URL can decide how the entry is identified.
      try nameEntries(
        from: source, selection.projection.union(rules.projection).union([.key, .url]))
    }
  }

  /// Plans to remove what is decided, then orphans, and then entries in the order of removal, until the cache is within its limits.
  ///
  /// - Parameters:
  ///   - queue: The first of the other entries in that order.
  ///   - least: What is left if everything that may be removed is removed.
  private mutating func remove(
    _ removable: inout RemovableEntries, and queue: inout RemovalQueue,
    until excess: inout LimitExcess, least: LimitExcess, by rules: EntryRules
  ) throws {
    var remaining = removable.remaining
    // First what is removed regardless of the totals, because that alone may bring the totals
    // within their limits.
    var decided = try removable.decide(by: rules) { try queue.insert($0) }
    var first = Scratch.List<Entry>.Writer()
    while let entry = try decided.next() {
      excess.remove(entry)
      remaining.remove(entry)
      try first.append(entry)
    }
    if excess.needsRoom(ofOrphans: orphansInUse > 0) {
      // No process needs them.
      orphans = survey.files
      excess.removeOrphans(of: self)
    }
    excess.settleMarks(leastBytes: least.totals.bytes, leastEntries: least.totals.entries)
    var others = Scratch.Sort<Entry>()
    try queue.removeNeeded(updating: &excess) { entry in
      remaining.remove(entry)
      try others.insert(entry, by: entry.version.id.scratchKey)
    }
    keep(remaining.withinLimits, because: .withinLimits)
    keep(remaining.unknownAge, because: .unknownAge)
    var removed = try MergedEntries(first.finish().makeReader(), others.removeAll())
    entries = try EntryList(&removed)
  }

  /// Sets the URLs and keys of all entries.
  private mutating func nameEntries(
    from source: any ResponseSource, _ projection: Projection
  ) throws {
    var unnamed = entries.makeReader()
    var named = EntryList.Writer()
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
