public import Bytes
public import ResponseStorage

/// What a command removes from a cache, decided before anything is removed.
///
/// A real run carries the plan out, and a dry run does not; both end with a ``RemovalReceipt``.
public struct RemovalPlan: Hashable, Sendable {
  /// Why an entry is removed.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The user selected it.
    case selected
    /// It is older than entries may be.
    case tooOld = "too-old"
    /// Its body is larger than bodies may be.
    case tooLarge = "too-large"
    /// There are more entries than there may be.
    case overEntries = "over-entries"
    /// The cache takes up more than it may.
    case overSize = "over-size"
    /// The file system has less room than there is to be.
    case minimumFree = "min-free"
    /// A rule removes it.
    case purgedByRule = "purged-by-rule"
    /// A rule forbids to store it.
    case neverByRule = "never-by-rule"
    /// It is older than a rule lets it become.
    case expired
    /// It has no row in one of the tables.
    case missingRow = "missing-row"
    /// Its body is not there.
    case missingBody = "missing-body"
    /// Its property lists cannot be decoded.
    case undecodable
    /// `URLCache` does not see it, and never will.
    case orphan
  }

  /// An entry that is removed.
  public struct Entry: Hashable, Sendable {
    /// The response, as it was when the plan was made.
    public var version: ResponseVersion
    // In an order that leaves no gaps: a plan may have a million entries.

    /// Whether the body is in a file, whose bytes go back to the file system at once.
    public var hasBodyFile: Bool
    /// Whether `URLCache` does not see the entry, so that it is no part of the footprint.
    public var isOrphan: Bool
    /// Whether it is fresh; `nil` if that is not known, or was not asked for.
    public var state: ResponseFreshness.State?
    /// Why it is removed.
    public var reason: Reason
    /// The round that removes it, from 1 on; there are later rounds where the ones before gave back too little.
    public var round: UInt8 = 1
    /// Its URL.
    public var url: ByteString?
    /// The size of its body in bytes; `nil` if that is missing.
    public var size: ByteCount?
    /// The time that its age is counted from; `nil` if that is not known, or was not asked for.
    public var time: Timestamp?
    /// What the rules say of it; `nil` if no rule matches it.
    public var verdict: EntryRules.Verdict?

    /// Creates an entry.
    public init(
      version: ResponseVersion, url: ByteString?, size: ByteCount?, hasBodyFile: Bool,
      isOrphan: Bool = false, time: Timestamp? = nil, state: ResponseFreshness.State? = nil,
      reason: Reason
    ) {
      self.time = time
      self.state = state
      self.version = version
      self.url = url
      self.size = size
      self.hasBodyFile = hasBodyFile
      self.isOrphan = isOrphan
      self.reason = reason
    }

    /// What the file system gets back with the entry at once, in bytes.
    public var returnedBytes: ByteCount { version.file?.size ?? (hasBodyFile ? size ?? 0 : 0) }
  }

  /// What the plan was made of.
  public var store: StoreDescription
  /// The entries that are removed, in ascending order of the ids.
  public var entries: [Entry] = []
  /// The orphans that are removed, in ascending order of the names.
  public var orphans: [OrphanFile] = []
  /// The number of all entries of the store.
  public var storedEntries: Int64 = 0
  /// The number of those that `URLCache` does not see.
  public var orphanEntries: Int64 = 0
  /// What the store took up when the plan was made.
  public var footprint: Footprint
  /// The names that no entry has.
  public var absent: EntryNames
  /// The sizes of all bodies inside the database, in bytes.
  public var inlineBytes: ByteCount = 0
  /// Whether the limits are kept once the plan is carried out; `nil` if there are none.
  public var meetsLimits: Bool?
  /// The limits that cannot be met, if that is known: then the plan removes nothing, unless best effort was asked for.
  public var shortfall: LimitShortfall?
  /// How much more is to be free on the file system, in bytes, before anything is removed.
  public var bytesToFree: ByteCount = 0
  /// Whether only a simulation on a copy shows whether the limits can be met.
  public var needsSimulation = false
  /// The files that no entry refers to, as far as they count for a limit that is exceeded.
  public var survey = OrphanSurvey()
  /// The entries that are kept, by the reason why.
  public var kept: [KeepReason: KeptEntries] = [:]

  /// Plans to remove nothing.
  init(of store: StoreDescription) {
    self.store = store
    footprint = Footprint()
    absent = EntryNames()
  }

  /// Plans to remove the selected entries.
  ///
  /// - Parameters:
  ///   - selection: What is removed; nothing else is touched.
  ///   - now: The moment that ages are counted to.
  ///   - needed: What else to decode of each entry.
  ///   - rules: What is noted with each entry; it selects nothing.
  ///   - pins: What is kept although it is selected.
  ///   - measuringKept: Whether to add up the bodies of what is kept for ``kept``, and those inside the database for
  ///     ``inlineBytes``, for which the size of each may have to be read; otherwise these sums may be too small.
  /// - Complexity: O(*n*) time, where *n* is the number of entries; memory grows with those selected.
  public init(
    removing selection: Selection, from source: any ResponseSource, now: Timestamp,
    decoding needed: Projection = [], by rules: EntryRules = EntryRules(),
    keeping pins: EntryNames = EntryNames(), measuringKept: Bool = true
  ) throws {
    try self.init(
      removing: selection, from: source, now: now, decoding: needed, by: rules, keeping: pins,
      measuringKept: measuringKept, naming: true)
  }

  /// Plans to remove the selected entries, of which neither URL nor key is noted unless they are `naming`.
  init(
    removing selection: Selection, from source: any ResponseSource, now: Timestamp,
    decoding needed: Projection, by rules: EntryRules, keeping pins: EntryNames,
    measuringKept: Bool,
    naming: Bool
  ) throws {
    store = source.description
    footprint = try source.footprint()
    let projection = selection.projection.union([.stored, .body, .file]).union(needed)
      .union(rules.projection).union(pins.projection).union(naming ? [.key, .url] : [])
    let basis = SelectionTally.Basis(
      selection: selection, rules: rules, pins: pins, now: now,
      asksForFreshness: needed.isSuperset(of: ResponseFreshness.projection), naming: naming)
    absent = selection.names ?? EntryNames()
    let tally = try SelectionTally.all(
      of: source, by: basis, decoding: projection, measuringKept: measuringKept, absent: &absent)
    (entries, kept) = (tally.entries, tally.kept)
    storedEntries = tally.responses
    (orphanEntries, inlineBytes) = (tally.orphans, tally.inlineBytes)
  }

  /// Whether nothing is removed.
  public var isEmpty: Bool { entries.isEmpty && orphans.isEmpty }

  /// The number of entries that are kept.
  public var keptEntries: Int64 { storedEntries - Int64(entries.count) }

  /// The sizes of the removed bodies, in bytes.
  public var bodyBytes: ByteCount {
    entries.reduce(0) { $0 + ($1.size ?? 0) }
  }

  /// The sizes of the removed files, in bytes: what the removal returns to the file system.
  public var returnedBytes: ByteCount {
    entries.reduce(orphanBytes) { $0 + $1.returnedBytes }
  }

  /// What the store takes up once the plan is carried out, in bytes; a database keeps its length.
  public var footprintAfter: ByteCount {
    let counted = entries.lazy.filter { !$0.isOrphan }
    let returned = counted.reduce(orphanBytes) { $0 + $1.returnedBytes }
    return max(0, footprint.totalBytes - returned)
  }

  /// The sizes of the removed orphans, in bytes.
  public var orphanBytes: ByteCount { orphans.reduce(0) { $0 + $1.size } }

  /// Whether the plan removes more than a cap allows; an orphan counts as an entry.
  public func exceeds(_ cap: RemovalCap) -> Bool {
    cap.isExceeded(
      by: entries.count + orphans.count, of: storedEntries + Int64(orphans.count))
  }

  /// Plans to remove nothing, as limits cannot be met.
  ///
  /// - Parameter unmet: The limits.
  public mutating func refuse(_ unmet: [UnmetLimit]) {
    shortfall = LimitShortfall(unmet, of: self, survey)
    let within = kept.removeValue(forKey: .withinLimits)
    var sum = KeptEntries()
    if let within { sum.insert(within) }
    for entry in entries where entry.reason != .orphan { sum.insert(entry.size) }
    if sum.entries > 0 { kept[.limitCannotBeMet] = sum }
    for entry in entries where entry.reason == .orphan {
      kept[.orphan, default: KeptEntries()].insert(entry.size)
    }
    (entries, orphans, meetsLimits, needsSimulation) = ([], [], false, false)
  }

  /// Removes from a store what the plan names.
  ///
  /// - Parameters:
  ///   - removal: What was done, also if it ends with an error.
  ///   - shouldStop: Asked between batches whether to leave the rest.
  public func carryOut(
    in store: any ResponseStore, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    // A removal that keeps limits is measured, and must give what a simulation on a copy has shown.
    let order: RemovalOrder = meetsLimits == nil ? .any : .ids
    // No process needs a file that no entry refers to.
    if !orphans.isEmpty { try store.remove(orphans: orphans, into: &removal, unless: shouldStop) }
    try store.remove(
      entries.lazy.map(\.version), in: order, into: &removal, unless: shouldStop)
  }

  /// Drops what a removal did not do, so that the plan has only what was removed.
  public mutating func restrict(to removal: Removal) {
    // Nearly always nothing is left out, and then the memory of a large plan is not copied.
    if removal.visited < entries.count { entries.removeSubrange(removal.visited...) }
    if !removal.skipped.isEmpty {
      // All are in ascending order.
      var skipped = removal.skipped[...]
      entries.removeAll { entry in
        guard entry.version.id == skipped.first else { return false }
        skipped.removeFirst()
        return true
      }
    }
    orphans.removeSubrange(removal.visitedOrphans...)
    var skippedOrphans = removal.skippedOrphans[...]
    orphans.removeAll { orphan in
      guard orphan.name == skippedOrphans.first else { return false }
      skippedOrphans.removeFirst()
      return true
    }
  }
}

extension RemovalPlan.Entry {
  /// Creates an entry of a response.
  ///
  /// - Parameter naming: Whether its URL and its key are noted.
  init(of response: borrowing StoredResponse, at time: Timestamp?, naming: Bool = true) {
    self.init(
      version: ResponseVersion(
        id: response.id, key: nil, stored: response.stored, file: response.file),
      url: nil, size: response.bodySize, hasBodyFile: response.bodyLocation == .file,
      isOrphan: response.isOrphan, time: time, reason: .selected)
    if naming { name(as: response) }
  }

  /// Notes URL and key.
  mutating func name(as response: borrowing StoredResponse) {
    // A plan may have a million entries: each takes no more memory than it needs.
    url = response.url.map { ByteString(copying: $0) }
    // Nearly all keys are the URL, and then share its memory.
    version.key =
      response.key == response.url ? url : response.key.map { ByteString(copying: $0) }
  }
}
