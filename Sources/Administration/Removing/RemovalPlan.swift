public import Bytes
public import Files
public import ResponseStorage
public import SQLite

/// The entries and files that a command removes from a cache, decided before anything is removed.
///
/// A real run executes the plan, a dry run does not; both produce a ``RemovalReceipt``.
public struct RemovalPlan {
  /// The store that the plan was made for.
  public var store: StoreDescription
  /// The entries to remove, in ascending order of ids.
  public var entries = EntryList()
  /// The orphans to remove, in ascending order of names.
  public var orphans: [OrphanFile] = []
  /// The number of all entries of the store.
  public var storedEntries: Int64 = 0
  /// The size on disk when the plan was made.
  public var footprint: Footprint
  /// The requested names that no entry has.
  public var absent: EntryNames
  /// Whether the space in use was measured, which only a limit of it needs.
  var measuresSpace = false
  /// The space that all entries take, if it was measured.
  var space = SpaceInUse()
  /// The part of the space in use that no removal frees: a page for each table and index of a database.
  var fixedBytes: ByteCount = 0
  /// Whether the cache is within its limits after the plan is executed; `nil` if there are none.
  public var meetsLimits: Bool?
  /// The limits that cannot be met, if known; the plan is then empty unless best effort was requested.
  public var shortfall: LimitShortfall?
  /// What the file system lacks, in bytes.
  public var lackedBytes: ByteCount = 0
  /// The part of ``lackedBytes`` that free pages and the log of the database do not make up for.
  public var bytesToFree: ByteCount = 0
  /// The orphans when the plan was made, if there are limits.
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
  ///   - measuringKept: Whether to add up the bodies of kept entries for ``kept``, which may require reading the size of
  ///     each body; otherwise these totals may be too small.
  /// - Complexity: O(*n*) time, where *n* is the number of entries.
  public init(
    removing selection: Selection, from source: any ResponseSource, now: Timestamp,
    decoding needed: Projection = [], by rules: EntryRules = EntryRules(),
    keeping pins: EntryNames = EntryNames(), measuringKept: Bool = true
  ) throws {
    self.init(of: source.description)
    footprint = try source.footprint()
    let basis = SelectionTally.Basis(
      selection: selection, rules: rules, pins: pins, now: now,
      decoding: store.traits.sharesBodies ? needed.union(.share) : needed,
      keepingFiles: source.keptBodyFiles())
    var entries = EntryList.Writer()
    try count(source, by: basis, measuringKept: measuringKept) { try entries.append($0) }
    self.entries = try entries.finish()
  }

  /// Counts the entries of a source, selected or kept.
  ///
  /// - Parameter receive: Called with each selected entry, in ascending order of ids.
  mutating func count(
    _ source: any ResponseSource, by basis: SelectionTally.Basis, measuringKept: Bool = true,
    _ receive: (Entry) throws -> Void
  ) throws {
    absent = basis.selection.names ?? EntryNames()
    let tally = try SelectionTally.all(
      of: source, by: basis, measuringKept: measuringKept, absent: &absent, receive)
    kept = tally.kept
    storedEntries = tally.responses
    space = tally.space
  }

  /// Adds the files to which no entry refers.
  public mutating func insertOrphans(of source: any ResponseSource, now: Timestamp) throws {
    orphans = try source.orphans(at: now).files
  }

  /// Whether the plan removes nothing.
  public var isEmpty: Bool { entries.isEmpty && orphans.isEmpty }

  /// The number of kept entries.
  public var keptEntries: Int64 { storedEntries - Int64(entries.count) }

  /// The total size of the removed bodies, in bytes.
  public var bodyBytes: ByteCount { entries.bodyBytes }

  /// The total size of the removed files, in bytes: the space that the removal frees at once.
  public var returnedBytes: ByteCount { orphanBytes + freedFileBytes }

  /// The total length of the removed files of entries, in bytes.
  private var freedFileBytes: ByteCount {
    entries.fileBytes + space.sharedBytes(freedBy: entries.space)
  }

  /// The size on disk after the plan is executed, in bytes; a database file does not shrink.
  public var footprintAfter: ByteCount {
    max(0, footprint.totalBytes - counted(orphanBytes) - freedFileBytes)
  }

  /// The total size of the removed orphans, in bytes.
  public var orphanBytes: ByteCount { orphans.reduce(0) { $0 + $1.size } }

  /// The part of the length of orphans that counts against the capacity: none in a Foundation store, where `URLCache` ignores them.
  private func counted(_ orphans: ByteCount) -> ByteCount {
    store.traits.countsOrphans ? orphans : 0
  }

  /// The space in use that orphans take, in bytes.
  var orphansInUse: ByteCount { counted(survey.bytes) }

  /// The space in use when the plan was made, in bytes; `nil` if nothing limits it.
  ///
  /// It is what the entries take of the pages of a database, and their files; a page for each table and index; and the orphans that are not
  /// young. It does not depend on how full pages are, on free pages, on the log, or on who has the cache open.
  public var inUse: ByteCount? {
    measuresSpace ? space.bytes + fixedBytes + orphansInUse : nil
  }

  /// The space in use after the plan is executed, in bytes; `nil` if nothing limits it.
  public var inUseAfter: ByteCount? {
    measuresSpace
      ? spaceAfter.bytes + fixedBytes + orphansInUse - counted(orphanBytes) : nil
  }

  private var spaceAfter: SpaceInUse {
    var rest = space
    rest.remove(entries.space)
    return rest
  }

  /// Whether the cache is within limits of size and number after the plan is executed.
  public func isWithin(_ limits: CacheLimits) -> Bool {
    limits.unmet(bytes: inUseAfter ?? 0, entries: keptEntries).isEmpty
  }

  /// Whether free pages of the database have to be reclaimed after the plan is executed: the files are then still larger than the limit, or
  /// the file system lacks room.
  public func needsReclaiming(for limits: CacheLimits) -> Bool {
    guard store.traits.hasDatabase,
      limits.bytesToFree ?? 0 > 0 || limits.bytes.map({ footprintAfter > $0 }) ?? false
    else { return false }
    return !entries.isEmpty || footprint.freeBytes > 0
      || !store.inUse
        && (footprint.closedBytes < footprint.totalBytes || isRewriteWorthwhile(of: footprint))
  }

  /// Whether a rewrite would make the database notably smaller once the plan is executed: by more than shares can be off.
  ///
  /// - Parameter footprint: The current size of the files.
  public func isRewriteWorthwhile(of footprint: Footprint) -> Bool {
    let database = footprint.databaseBytes + footprint.growthBytes
    return database - spaceAfter.pages - fixedBytes > database / 16
  }

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
    var sum = entries.all
    if let within { sum.insert(within) }
    if sum.entries > 0 { kept[.limitCannotBeMet] = sum }
    (entries, orphans, meetsLimits) = (EntryList(), [], false)
  }

  /// Removes the planned entries and files from a store.
  ///
  /// - Parameters:
  ///   - removal: What was removed, also if an error is thrown.
  ///   - shouldStop: Called between batches; `true` stops the removal.
  public func carryOut(
    in store: any ResponseStore, into removal: inout Removal,
    unless shouldStop: () -> Bool
  ) throws {
    // Orphans first: no process needs them.
    if !orphans.isEmpty { try store.remove(orphans: orphans, into: &removal, unless: shouldStop) }
    var versions = Versions(entries: entries.makeReader())
    try store.remove(&versions, into: &removal, unless: shouldStop)
    if let failure = versions.failure { throw failure }
  }

  /// The versions of the entries; they end where the entries cannot be read any further.
  private struct Versions: IteratorProtocol {
    var entries: EntryList.Reader
    private(set) var failure: FileError?

    mutating func next() -> ResponseVersion? {
      do throws(FileError) {
        return try entries.next()?.version
      } catch {
        failure = error
        return nil
      }
    }
  }

  /// Drops the entries and files that were not removed.
  public mutating func restrict(to removal: Removal) throws(FileError) {
    orphans.removeSubrange(removal.visitedOrphans...)
    var skippedOrphans = removal.skippedOrphans[...]
    orphans.removeAll { orphan in
      guard orphan.name == skippedOrphans.first else { return false }
      skippedOrphans.removeFirst()
      return true
    }
    // Usually nothing is skipped, and then a long list must not be written again.
    guard removal.visited < entries.count || !removal.skipped.isEmpty else { return }
    // Entries and skipped ids are both in ascending order.
    var skipped = removal.skipped[...]
    var removed = EntryList.Writer()
    var all = entries.makeReader()
    for _ in 0..<removal.visited {
      guard let entry = try all.next() else { break }
      if entry.version.id == skipped.first {
        skipped.removeFirst()
      } else {
        try removed.append(entry)
      }
    }
    entries = try removed.finish()
  }
}

extension RemovalPlan {
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
  }

  /// An entry that is removed.
  public struct Entry: Hashable, Sendable {
    /// The response, as it was when the plan was made.
    public var version: ResponseVersion
    // The members are ordered to avoid padding: a plan may have a million entries.

    /// Whether the body is in a file that is removed with the entry, so that its space is freed at once.
    public var hasBodyFile: Bool
    /// Whether a rule would remove it at some age, and that age is unknown.
    public var isAgeUnknown = false
    /// Whether a rule removes it, and not a limit of the cache.
    public var isByRule = false
    /// Whether it is fresh; `nil` if unknown or not requested.
    public var state: ResponseFreshness.State?
    /// Why it is removed.
    public var reason: Reason
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if the body is missing.
    public var size: ByteCount?
    /// The time that its age counts from; `nil` if unknown or not requested.
    public var time: Timestamp?
    /// When it was last used; `nil` if the store does not record it.
    public var used: Timestamp?
    /// What it contributes to the space in use; zero if that was not requested.
    public var share = EntryShare()
    /// The decision of the rules; `nil` if no rule decides.
    public var verdict: EntryRules.Verdict?

    /// Creates an entry.
    public init(
      version: ResponseVersion, url: ByteString?, size: ByteCount?, hasBodyFile: Bool,
      time: Timestamp? = nil, state: ResponseFreshness.State? = nil,
      reason: Reason
    ) {
      self.time = time
      self.state = state
      self.version = version
      self.url = url
      self.size = size
      self.hasBodyFile = hasBodyFile
      self.reason = reason
    }

    /// The space that is freed with the entry at once, in bytes.
    public var returnedBytes: ByteCount {
      (version.file?.size ?? 0) + (hasBodyFile ? size ?? 0 : 0)
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
      time: time, reason: .selected)
    used = response.used
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

extension RemovalPlan.Entry: ScratchRow {
  /// What follows in the bytes of an entry.
  private struct Contents: OptionSet {
    let rawValue: Int64
    static let file = Contents(rawValue: 1)
    static let stored = Contents(rawValue: 2)
    static let key = Contents(rawValue: 4)
    /// The key, which equals the URL and is not repeated.
    static let sameKey = Contents(rawValue: 8)
    static let url = Contents(rawValue: 16)
    static let size = Contents(rawValue: 32)
    static let time = Contents(rawValue: 64)
    static let verdict = Contents(rawValue: 128)
    static let bodyFile = Contents(rawValue: 256)
    static let sharedFile = Contents(rawValue: 512)
    static let unknownAge = Contents(rawValue: 1_024)
    static let used = Contents(rawValue: 2_048)
    static let byRule = Contents(rawValue: 4_096)

    init(rawValue: Int64) { self.rawValue = rawValue }

    init(of entry: RemovalPlan.Entry) {
      self = []
      if entry.version.file != nil { insert(.file) }
      if entry.version.stored != nil { insert(.stored) }
      if entry.url != nil { insert(.url) }
      if let key = entry.version.key { insert(key == entry.url ? .sameKey : .key) }
      if entry.size != nil { insert(.size) }
      if entry.time != nil { insert(.time) }
      if entry.verdict != nil { insert(.verdict) }
      if entry.hasBodyFile { insert(.bodyFile) }
      if entry.share.sharedFile != nil { insert(.sharedFile) }
      if entry.isAgeUnknown { insert(.unknownAge) }
      if entry.used != nil { insert(.used) }
      if entry.isByRule { insert(.byRule) }
    }
  }

  public func pack(into values: inout PackedValues) {
    let contents = Contents(of: self)
    values.append(contents.rawValue)
    values.append(share.pages.bytes)
    values.append(share.file.bytes)
    if let name = share.sharedFile { values.append(name) }
    values.append(choice: reason)
    values.append(state) { $0.append(choice: $1) }
    values.append(id: version.id)
    if let file = version.file { values.append(file: file) }
    if let stored = version.stored { values.append(time: stored) }
    if let url { values.append(url) }
    if let key = version.key, contents.contains(.key) { values.append(key) }
    if let size { values.append(size.bytes) }
    if let time { values.append(time: time) }
    if let used { values.append(time: used) }
    if let verdict {
      values.append(choice: verdict.fate)
      values.append(Int64(verdict.rule))
    }
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    let contents = Contents(rawValue: try reader.number())
    let pages = ByteCount(try reader.number())
    let fileBytes = ByteCount(try reader.number())
    let sharedFile = contents.contains(.sharedFile) ? try reader.text() : nil
    let reason: RemovalPlan.Reason = try reader.choice()
    let state: ResponseFreshness.State? = try reader.optional {
      reader throws(PackedReader.Failure) in try reader.choice()
    }
    let id = try reader.id()
    let file = contents.contains(.file) ? try reader.file() : nil
    let stored = contents.contains(.stored) ? try reader.time() : nil
    let url = contents.contains(.url) ? try reader.text() : nil
    let key =
      contents.contains(.key) ? try reader.text() : contents.contains(.sameKey) ? url : nil
    let size = contents.contains(.size) ? ByteCount(try reader.number()) : nil
    let time = contents.contains(.time) ? try reader.time() : nil
    self.init(
      version: ResponseVersion(id: id, key: key, stored: stored, file: file), url: url, size: size,
      hasBodyFile: contents.contains(.bodyFile), time: time,
      state: state, reason: reason)
    share = EntryShare(pages: pages, file: fileBytes, sharedFile: sharedFile)
    isAgeUnknown = contents.contains(.unknownAge)
    isByRule = contents.contains(.byRule)
    used = contents.contains(.used) ? try reader.time() : nil
    if contents.contains(.verdict) {
      let fate: EntryRule.Fate = try reader.choice()
      verdict = EntryRules.Verdict(rule: try reader.number(Int32.self), fate: fate)
    }
  }
}
