public import Bytes
public import ResponseStorage

extension RemovalPlan {
  /// Plans to remove what a cache has beyond its limits.
  ///
  /// Body files that no entry refers to are removed first, then free pages are given back, and only then entries. If all
  /// that may be removed is not enough, nothing is, and ``shortfall`` tells why.
  ///
  /// What an entry returns is its file, if it is one. Otherwise it is its body, and its share of the
  /// database beside the bodies and what an empty one takes up; free pages count as returned, as the
  /// removal is followed by giving them back. What `URLCache` does not see is no part of any limit, and stays.
  ///
  /// - Parameters:
  ///   - rules: What is kept, and what is removed, whatever the limits are.
  ///   - pins: What is kept in any case, and counts.
  ///   - selection: What may be removed; everything else is kept, and counts.
  ///   - now: The moment that ages are counted to.
  ///   - clock: The time of the system, which files are young or old by; `nil` for `now`.
  /// - Complexity: O(*n* log *n*) time and O(*n*) memory, where *n* is the number of entries that may
  ///   go.
  public init(
    enforcing limits: CacheLimits, on source: any ResponseSource, among selection: Selection,
    by rules: EntryRules = EntryRules(), keeping pins: EntryNames = EntryNames(), now: Timestamp,
    clock: Timestamp? = nil
  ) throws {
    // All that may be removed is in the plan at first, and what may be kept is taken out again. There may be a million: nothing is
    // copied, until the end an entry that stays is one without a reason of its own, and only what goes is named
    // if it can be found again.
    let hasDatabase = source.description.format.hasDatabase
    try self.init(
      removing: selection, from: source, now: now,
      decoding: limits.projection(ageBasis: selection.ageBasis), by: rules, keeping: pins,
      measuringKept: true, naming: !hasDatabase || selection.names != nil)
    bytesToFree = limits.bytesToFree ?? 0
    keep(because: .orphan) { $0.isOrphan }
    if exceedsRoom(of: limits) {
      survey = try source.orphans(at: clock ?? now)
      orphans = survey.files
    }
    var excess = Excess(limits, of: self)
    guard !limits.onlyIfOver || excess.isOver else {
      keep(because: .withinLimits) { _ in true }
      // Whatever is removed, the log of another process may be too large.
      needsSimulation = store.inUse && exceedsRoom(of: limits)
      return
    }
    keep(because: .keptByRule) { $0.verdict?.fate == .keep }
    if (limits.bytesToFree ?? 0) > 0 { addLeftovers(to: &excess) }
    let reach = LimitReach(of: self)
    let unmet = reach.unmet(of: limits)
    if !unmet.isEmpty {
      guard limits.isBestEffort else {
        refuse(unmet)
        return
      }
      shortfall = LimitShortfall(unmet, of: self, survey)
    }
    needsSimulation =
      store.format.hasDatabase && reach.isUnknown(of: limits)
      && (excess.needsRoom || store.inUse && exceedsRoom(of: limits))
    excess.limitMarks(to: reach, of: self)
    let beyond = rules.beyondLimits(entries, in: limits)
    let ageLimit = limits.age.map { AgeLimit($0, at: now) }
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
    // What is taken out leaves its room behind.
    if entries.count < entries.capacity / 8 * 7 { entries = entries.map { $0 } }
    meetsLimits = excess.isWithinLimits && unmet.isEmpty
    // Whatever an entry is removed for, the log of another process becomes longer by it.
    if store.inUse, limits.bytes != nil, !isEmpty { needsSimulation = true }
    if hasDatabase, selection.names == nil {
      // What is decoded beside a URL can tell what it is.
      try nameEntries(
        from: source, selection.projection.union(rules.projection).union([.key, .url]))
    }
  }

  /// Whether files take up more than they may, or the file system lacks room, once no process has the cache open that does
  /// not now.
  private func exceedsRoom(of limits: CacheLimits) -> Bool {
    let kept = store.inUse ? footprint.totalBytes : footprint.closedBytes
    let returned = max(0, footprint.totalBytes - kept)
    return limits.bytes.map { kept > $0 } ?? false
      || limits.bytesToFree.map { $0 > returned } ?? false
  }

  /// Plans to remove the files that a crash left in a store of files, as they take up room.
  private mutating func addLeftovers(to excess: inout Excess) {
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

  /// Notes the URLs and keys of all entries.
  private mutating func nameEntries(
    from source: any ResponseSource, _ projection: Projection
  ) throws {
    var place = 0
    try source.forEachResponse(of: entries.map(\.version.id), projection) { response in
      while place < entries.count, entries[place].version.id < response.id { place += 1 }
      guard place < entries.count, entries[place].version.id == response.id else { return .next }
      entries[place].name(as: response)
      return .next
    }
  }

  /// The indices of the entries that only limits remove, in the order of their removal.
  private func placesOfRemovable(in limits: CacheLimits) -> [Int] {
    var places = entries.indices.filter { entries[$0].reason == .selected }
    places.sort { limits.precedes(entries[$0], entries[$1]) }
    return places
  }

  /// Takes entries out of the plan, and counts them as kept.
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
  /// Why an entry is removed by itself; `nil` if only others let it be removed.
  fileprivate func reason(
    toRemove entry: RemovalPlan.Entry, olderThan ageLimit: AgeLimit?
  ) -> RemovalPlan.Reason? {
    if let time = entry.time, ageLimit?.isExceeded(by: time) ?? false { return .tooOld }
    if let entryBytes, let size = entry.size, size > entryBytes { return .tooLarge }
    return nil
  }
}

/// How much of a cache is beyond its limits, while entries are taken away.
private struct Excess {
  private let limits: CacheLimits
  private var bytes: Double
  private var entries: Int64
  private var bytesToFree: Double
  /// What an entry takes up in the database beside an inline body.
  private let rowBytes: Double
  /// What all entries take up in the database.
  private let databaseBytes: Double
  /// How much of that the removed entries took up.
  private var removedBytes = 0.0
  /// How much more than has to is to be free.
  private let spareBytes: Double
  // Where the removal may end: at the limit itself, or once over it, lower.
  private var lowBytes: Double
  private var lowEntries: Int64

  init(_ limits: CacheLimits, of plan: RemovalPlan) {
    self.limits = limits
    let footprint = plan.footprint
    // No entry is removed for the log, which is removed when the last process closes the database.
    let used =
      Double(footprint.closedBytes) - Double(footprint.freeBytes) - Double(plan.orphanBytes)
    bytes = used
    entries = plan.storedEntries - plan.orphanEntries
    let kept = plan.store.inUse ? footprint.closedBytes : footprint.totalBytes
    let returned = Double(kept) - used
    bytesToFree = Double(limits.bytesToFree ?? 0) - returned
    let database = footprint.databaseBytes + footprint.growthBytes
    databaseBytes = max(0, Double(database) - Double(footprint.freeBytes) - Self.emptyBytes)
    let overhead = max(0, databaseBytes - Double(plan.inlineBytes))
    rowBytes = overhead / Double(max(1, plan.storedEntries))
    let margin = Double(limits.round.margin)
    // What another process keeps counts where entries are removed anyway; none is removed for it alone.
    let log =
      plan.store.inUse
      ? max(0, Double(footprint.totalBytes) - Double(footprint.closedBytes)) : 0
    spareBytes = bytesToFree > 0 ? margin : 0
    lowBytes =
      limits.bytes.map {
        let low =
          used > Double($0) || limits.round.startedOverLimit ? Double(limits.low($0)) : Double($0)
        return used > low ? low - margin - log : low
      } ?? .infinity
    let counted = entries
    lowEntries = limits.entries.map { counted > $0 ? limits.low($0) : $0 } ?? .max
  }

  /// Whether the files take up more than they may, or the file system lacks room.
  var needsRoom: Bool { bytes > lowBytes || bytesToFree > -spareBytes && bytesToFree > 0 }

  /// Goes down to the limits only where the low marks cannot be reached: no entry is removed for nothing.
  mutating func limitMarks(to reach: LimitReach, of plan: RemovalPlan) {
    if let limit = limits.entries, reach.leastEntries > lowEntries { lowEntries = limit }
    if let limit = limits.bytes, Double(reach.leastBytes) > lowBytes {
      lowBytes = max(lowBytes, Double(limit) - Double(limits.round.margin))
    }
  }

  /// Counts what the file system gets back with a file that counts against no limit of size.
  mutating func returnLeftover(_ size: ByteCount) { bytesToFree -= Double(size) }

  /// Whether anything more has to be removed.
  var isOver: Bool { reason != nil }

  /// Why the next entry has to be removed.
  var reason: RemovalPlan.Reason? {
    if entries > lowEntries { return .overEntries }
    if bytes > lowBytes { return .overSize }
    if bytesToFree > -spareBytes { return .minimumFree }
    return nil
  }

  /// Whether the limits themselves are met, whatever the low mark is.
  var isWithinLimits: Bool {
    bytesToFree <= 0 && limits.entries.map { entries <= $0 } ?? true
      && limits.bytes.map { bytes <= Double($0) } ?? true
  }

  mutating func remove(_ entry: RemovalPlan.Entry) {
    let returned = bytesReturned(by: entry)
    bytes -= returned
    bytesToFree -= returned
    entries -= 1
  }

  private mutating func bytesReturned(by entry: RemovalPlan.Entry) -> Double {
    if let file = entry.version.file { return Double(file.size) }
    let size = Double(entry.size ?? 0)
    return entry.hasBodyFile
      ? size + pagesReturned(for: rowBytes) : pagesReturned(for: size + rowBytes)
  }

  /// What an empty database takes up: a page for its header and each table and index.
  private static let emptyBytes = 12.0 * 4_096

  /// How much of the database is returned for so many bytes of it.
  private mutating func pagesReturned(for bytes: Double) -> Double {
    guard databaseBytes > 0 else { return 0 }
    let before = Self.returned(of: removedBytes / databaseBytes)
    removedBytes = min(removedBytes + bytes, databaseBytes)
    return (Self.returned(of: removedBytes / databaseBytes) - before) * databaseBytes
  }

  /// The share of a database that is returned when a share of its bytes is removed.
  ///
  /// Pages that also contain what is kept are not returned: a tenth at first, which comes back in the end, as the
  /// rest of what they contain is removed.
  private static func returned(of gone: Double) -> Double { gone * (0.9 + 0.1 * gone) }
}
