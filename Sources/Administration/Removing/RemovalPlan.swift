public import Bytes
public import ResponseStorage

/// The entries and files that a command removes from a cache, decided before anything is removed.
///
/// A real run executes the plan, a dry run does not; both produce a ``RemovalReceipt``.
public struct RemovalPlan: Hashable, Sendable {
  /// Why an entry is removed.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The user selected it.
    case selected
    /// It is older than the age limit.
    case tooOld = "too-old"
    /// Its body is larger than the limit.
    case tooLarge = "too-large"
    /// The cache has more entries than the limit.
    case overEntries = "over-entries"
    /// The cache is larger than its limit.
    case overSize = "over-size"
    /// The file system has less free space than required.
    case minimumFree = "min-free"
    /// A rule removes it.
    case purgedByRule = "purged-by-rule"
    /// A rule forbids storing it.
    case neverByRule = "never-by-rule"
    /// It is older than a rule allows.
    case expired
    /// It has no row in one of the tables.
    case missingRow = "missing-row"
    /// Its body is missing.
    case missingBody = "missing-body"
    /// Its property lists cannot be decoded.
    case undecodable
    /// `URLCache` does not see it and never will.
    case orphan
  }

  /// An entry that is removed.
  public struct Entry: Hashable, Sendable {
    /// The response, as it was when the plan was made.
    public var version: ResponseVersion
    // The members are ordered to avoid padding: a plan may have a million entries.

    /// Whether the body is in a file, whose space is freed at once.
    public var hasBodyFile: Bool
    /// Whether `URLCache` does not see the entry, so that the footprint does not include it.
    public var isOrphan: Bool
    /// Whether it is fresh; `nil` if unknown or not requested.
    public var state: ResponseFreshness.State?
    /// Why it is removed.
    public var reason: Reason
    // One byte is enough: `enforce` stops after 20 rounds.
    /// The round that removes it, starting at 1; later rounds follow if the earlier ones freed too little.
    public var round: UInt8 = 1
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if the body is missing.
    public var size: ByteCount?
    /// The time that its age counts from; `nil` if unknown or not requested.
    public var time: Timestamp?
    /// The decision of the rules; `nil` if no rule decides.
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

    /// The space that is freed with the entry at once, in bytes.
    public var returnedBytes: ByteCount { version.file?.size ?? (hasBodyFile ? size ?? 0 : 0) }
  }

  /// The store that the plan was made for.
  public var store: StoreDescription
  /// The entries to remove, in ascending order of ids.
  public var entries: [Entry] = []
  /// The orphans to remove, in ascending order of names.
  public var orphans: [OrphanFile] = []
  /// The number of all entries of the store.
  public var storedEntries: Int64 = 0
  /// The number of entries that `URLCache` does not see.
  public var orphanEntries: Int64 = 0
  /// The size on disk when the plan was made.
  public var footprint: Footprint
  /// The requested names that no entry has.
  public var absent: EntryNames
  /// The total size of the bodies inside the database, in bytes.
  public var inlineBytes: ByteCount = 0
  /// Whether the cache is within its limits after the plan is executed; `nil` if there are none.
  public var meetsLimits: Bool?
  /// The limits that cannot be met, if known; the plan is then empty unless best effort was requested.
  public var shortfall: LimitShortfall?
  /// The number of bytes to free on the file system, before anything is removed.
  public var bytesToFree: ByteCount = 0
  /// Whether only a simulation on a copy can show if the limits can be met.
  public var needsSimulation = false
  /// The orphans, if they count for a limit that is exceeded.
  public var survey = OrphanSurvey()
  /// The kept entries, by reason.
  public var kept: [KeepReason: KeptEntries] = [:]

  /// Creates an empty plan.
  init(of store: StoreDescription) {
    self.store = store
    footprint = Footprint()
    absent = EntryNames()
  }

  /// Plans to remove the selected entries.
  ///
  /// - Parameters:
  ///   - selection: The entries to remove.
  ///   - now: The time that ages are relative to.
  ///   - needed: More fields to decode of each entry.
  ///   - rules: The rules whose verdicts are recorded in the entries; they select nothing.
  ///   - pins: The entries that are kept although they are selected.
  ///   - measuringKept: Whether to add up the bodies of kept entries for ``kept``, and the bodies inside the database
  ///     for ``inlineBytes``, which may require reading the size of each body; otherwise these totals may be too small.
  /// - Complexity: O(*n*) time, where *n* is the number of entries; memory grows with the number of selected entries.
  public init(
    removing selection: Selection, from source: any ResponseSource, now: Timestamp,
    decoding needed: Projection = [], by rules: EntryRules = EntryRules(),
    keeping pins: EntryNames = EntryNames(), measuringKept: Bool = true
  ) throws {
    self.init(of: source.description)
    footprint = try source.footprint()
    let basis = SelectionTally.Basis(
      selection: selection, rules: rules, pins: pins, now: now, decoding: needed)
    var entries: [Entry] = []
    // Growing an array copies it, and there may be a million entries. A store that cannot be counted may still be
    // readable.
    if selection.isEmpty, let count = try? source.count() {
      entries.reserveCapacity(Int(clamping: count))
    }
    try count(source, by: basis, measuringKept: measuringKept) { entries.append($0) }
    self.entries = entries
  }

  /// Counts the entries of a source, selected or kept.
  ///
  /// - Parameter receive: Called with each selected entry, in ascending order of ids.
  mutating func count(
    _ source: any ResponseSource, by basis: SelectionTally.Basis, measuringKept: Bool = true,
    _ receive: (Entry) -> Void
  ) throws {
    absent = basis.selection.names ?? EntryNames()
    let tally = try SelectionTally.all(
      of: source, by: basis, measuringKept: measuringKept, absent: &absent, receive)
    kept = tally.kept
    storedEntries = tally.responses
    (orphanEntries, inlineBytes) = (tally.orphans, tally.inlineBytes)
  }

  /// Adds the files to which no entry refers.
  public mutating func insertOrphans(of source: any ResponseSource, now: Timestamp) throws {
    let survey = try source.orphans(at: now)
    orphans = survey.files
    let planned = Set(entries.map(\.version.id))
    for version in survey.leftovers where !planned.contains(version.id) {
      var entry = Entry(
        version: version, url: nil, size: nil, hasBodyFile: false, isOrphan: true, reason: .orphan)
      entry.size = version.file?.size
      entries.append(entry)
    }
    entries.sort { $0.version.id < $1.version.id }
  }

  /// Whether the plan removes nothing.
  public var isEmpty: Bool { entries.isEmpty && orphans.isEmpty }

  /// The number of kept entries.
  public var keptEntries: Int64 { storedEntries - Int64(entries.count) }

  /// The total size of the removed bodies, in bytes.
  public var bodyBytes: ByteCount {
    entries.reduce(0) { $0 + ($1.size ?? 0) }
  }

  /// The total size of the removed files, in bytes: the space that the removal frees at once.
  public var returnedBytes: ByteCount {
    entries.reduce(orphanBytes) { $0 + $1.returnedBytes }
  }

  /// The size on disk after the plan is executed, in bytes; a database file does not shrink.
  public var footprintAfter: ByteCount {
    let counted = entries.lazy.filter { !$0.isOrphan }
    let returned = counted.reduce(orphanBytes) { $0 + $1.returnedBytes }
    return max(0, footprint.totalBytes - returned)
  }

  /// The total size of the removed orphans, in bytes.
  public var orphanBytes: ByteCount { orphans.reduce(0) { $0 + $1.size } }

  /// Whether the plan removes more than the cap allows; an orphan counts as an entry.
  public func exceeds(_ cap: RemovalCap) -> Bool {
    cap.isExceeded(
      // A command that removed a thousand body files and no entry would otherwise pass a cap of
      // ten.
      by: entries.count + orphans.count, of: storedEntries + Int64(orphans.count))
  }

  /// Empties the plan because limits cannot be met.
  ///
  /// - Parameter unmet: The limits that cannot be met.
  public mutating func refuse(_ unmet: [UnmetLimit]) {
    shortfall = LimitShortfall(unmet, of: self, survey)
    // The plan is given up as a whole, so nothing is kept for being within the limits any more.
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

  /// Removes the planned entries and files from a store.
  ///
  /// - Parameters:
  ///   - removal: What was removed, also if an error is thrown.
  ///   - shouldStop: Called between batches; `true` stops the removal.
  public func carryOut(
    in store: any ResponseStore, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws(StoreError) {
    // Orphans first: no process needs them.
    if !orphans.isEmpty { try store.remove(orphans: orphans, into: &removal, unless: shouldStop) }
    try store.remove(entries.lazy.map(\.version), into: &removal, unless: shouldStop)
  }

  /// Drops the entries and files that were not removed.
  public mutating func restrict(to removal: Removal) {
    // Usually nothing is skipped, and then a large plan must not be copied.
    if removal.visited < entries.count { entries.removeSubrange(removal.visited...) }
    if !removal.skipped.isEmpty {
      // Entries, orphans and skipped ids are all in ascending order.
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
  /// Creates an entry from a response.
  ///
  /// - Parameter naming: Whether to record its URL and key.
  init(of response: borrowing StoredResponse, at time: Timestamp?, naming: Bool = true) {
    self.init(
      version: ResponseVersion(
        id: response.id, key: nil, stored: response.stored, file: response.file),
      url: nil, size: response.bodySize, hasBodyFile: response.bodyLocation == .file,
      isOrphan: response.isOrphan, time: time, reason: .selected)
    if naming { name(as: response) }
  }

  /// Records the URL and key.
  mutating func name(as response: borrowing StoredResponse) {
    // Copy the bytes: a plan may have a million entries, and a slice would keep its whole buffer alive.
    url = response.url.map { ByteString(copying: $0) }
    // Nearly all keys equal the URL, and then share its memory.
    version.key =
      response.key == response.url ? url : response.key.map { ByteString(copying: $0) }
  }
}
