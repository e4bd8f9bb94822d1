public import Bytes
public import Files
public import ResponseArchives
public import ResponseStorage
public import SQLite

/// The entries to import from an archive into a cache, decided before anything is changed.
///
/// Creating a plan reads the whole archive and verifies its digests. The entries are kept in an unnamed file, so memory
/// does not grow with their number.
public struct ImportPlan {
  /// The archive.
  public let archive: StoreDescription
  /// The number of entries of the archive that were read.
  public let archivedEntries: Int64
  /// The requested names that no entry has.
  public let absent: EntryNames
  /// The other contents of the archive, which are no entries.
  public let omissions: [ArchiveOmission]
  /// The first records of the archive that do not match their digest, which are among the omissions.
  public let damagedRecords: [DamagedRecord]
  /// The changes to the entries on import.
  public let rewriting: ResponseRewriting
  /// Why the archive could not be read to its end, if that was allowed.
  public let damage: String?

  /// The selected entries.
  let entries: PlannedEntries
  private let totals: ImportTotals

  /// Plans to import the selected entries of an archive.
  ///
  /// - Parameters:
  ///   - target: The current cache, or a cache to be created.
  ///   - anyMethod: Whether to import responses to requests other than GET; an archive that restores caches always
  ///     includes them.
  ///   - rewriting: The changes to the entries, applied after the selection.
  ///   - salvaging: Whether damage to the archive ends the reading without an error.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportConflict``, or a `FileError` for a temporary file.
  public init(
    importing archive: any ResponseArchive, _ selection: Selection,
    into target: any ResponseTarget, rule: ImportConflictRule, now: Timestamp,
    anyMethod: Bool = false, rewriting: ResponseRewriting = .init(), salvaging: Bool = false
  ) throws {
    let prepared = ImportPass(
      importing: archive, selection, into: target, rule: rule, now: now,
      anyMethod: anyMethod, rewriting: rewriting)
    var pass = prepared
    var end = try pass.run()
    if let repeated = try pass.firstRepeatedKey() {
      // No program writes such an archive, so read it once more, up to the entry with the repeated
      // key. Then the result is as if the entry had been recognized at once.
      pass = prepared
      end = try pass.run(endingAt: repeated)
    }
    let found = try pass.decided(by: rule)
    switch end {
    case .complete: damage = nil
    case .conflict(let conflict): throw conflict
    // Exceeding a limit is no damage: the limit protects memory, and the user can raise it.
    case .failure(let error):
      guard salvaging, error.kind == .damaged else { throw error }
      damage = error.description
    }
    (entries, totals) = found
    (self.archive, self.rewriting) = (archive.description, rewriting)
    (archivedEntries, absent) = (pass.archivedEntries, pass.absent)
    omissions = archive.omissions
    damagedRecords = archive.damagedRecords
  }

  /// Returns the number of entries with an action.
  public func count(_ action: Action) -> Int { totals.count(action) }

  /// The number of entries that are skipped for another entry of the archive.
  public var duplicates: Int { totals.duplicates }

  /// Returns the total size of the bodies of the entries with an action, in bytes.
  public func bodyBytes(_ action: Action) -> ByteCount { totals.bodyBytes(action) }

  /// The parts that the imported entries lose, with the number of entries that lose them.
  public var losses: [(loss: ResponseLoss, entries: Int)] {
    ResponseLoss.allCases.compactMap { loss in
      let count = totals.count(loss)
      return count > 0 ? (loss, count) : nil
    }
  }

  /// The first rejected entries, at most ten.
  public var rejected: [Entry] { totals.rejected }

  /// Whether the import changes anything.
  public var changesAnything: Bool { lastWritten != nil }

  /// The number of the last entry that is imported, up to which the archive is read again; `nil` if none is.
  public var lastWritten: Int64? { totals.lastWritten }

  /// Returns a reader of the entries of the cache that are replaced.
  public func makeReplacedReader() throws -> ReplacedReader {
    var versions = Scratch.Sort<Replaced>()
    var rest = try entries.makeReader()
    while let entry = try rest.next() {
      if let version = entry.replaced {
        try versions.insert(Replaced(version: version), by: version.id.scratchKey)
      }
    }
    return ReplacedReader(versions: try versions.removeAll())
  }

  /// Reads the entries of the cache that are replaced, in ascending order of ids, as they were when the plan was made.
  public struct ReplacedReader {
    fileprivate var versions: Scratch.Reader<Replaced>

    /// Returns the next entry; `nil` at the end.
    public mutating func next() throws(FileError) -> ResponseVersion? {
      try versions.next()?.version
    }
  }

  /// An entry of the cache that is replaced.
  fileprivate struct Replaced: ScratchRow {
    var version: ResponseVersion

    init(version: ResponseVersion) { self.version = version }

    func pack(into values: inout PackedValues) { values.append(version: version) }

    init(from reader: inout PackedReader) throws(PackedReader.Failure) {
      version = try reader.version()
    }
  }

  /// Calls `body` with each selected entry, in the order of the archive.
  ///
  /// - Parameters:
  ///   - result: The result of the import; empty before it.
  ///   - body: Also receives whether the entry was not imported because the cache had changed.
  /// - Throws: A `FileError`, or any error that `body` throws.
  public func forEachEntry(
    after result: ImportResult, _ body: (Entry, _ isChanged: Bool) throws -> Void
  ) throws {
    var (rest, changed) = (try entries.makeReader(), result.entries.makeReader())
    var next = try changed.next()
    while let entry = try rest.next() {
      let isChanged = entry.number == next?.number
      if isChanged { next = try changed.next() }
      try body(entry, isChanged)
    }
  }
}

extension ImportPass {
  /// Decides about entries with equal keys in the cache, and returns all entries with their sums.
  ///
  /// - Throws: ``ImportConflict`` or `FileError`.
  fileprivate mutating func decided(
    by rule: ImportConflictRule
  ) throws -> (PlannedEntries, ImportTotals) {
    let list = try finishEntries()
    // Keys that the cache has as they are in the archive are known to differ.
    guard hasMappedKeys else { return (PlannedEntries(list), totals) }
    var keys = EqualKeys(rule)
    try list.forEach { entry in
      guard let key = entry.key else { return }
      try keys.insert(
        .init(key: key, number: entry.number, action: entry.action, archived: entry.archived))
    }
    let decisions = try keys.removeAll()
    if let number = keys.conflict { throw try Self.conflict(at: number, in: list) }
    let entries = PlannedEntries(list, decisions)
    guard !decisions.isEmpty else { return (entries, totals) }
    var (rest, totals) = (try entries.makeReader(), ImportTotals())
    while let entry = try rest.next() { totals.insert(entry) }
    return (entries, totals)
  }

  /// Returns the error for an entry that has the key of an earlier one in the cache.
  private static func conflict(
    at number: Int64, in list: Scratch.List<ImportPlan.Entry>
  ) throws(FileError) -> ImportConflict {
    var rest = list.makeReader()
    while let entry = try rest.next() {
      if entry.number == number { return ImportConflict(url: entry.url, isInArchive: true) }
    }
    return ImportConflict(isInArchive: true)
  }
}

extension ImportPlan {
  /// Imports the planned entries into a cache.
  ///
  /// Body files are first written under temporary names. They are synced to disk before the transaction that inserts
  /// all rows is committed, or before all files get their final names. If another process has the cache open, they are
  /// written and synced even before the transaction begins, because that process waits during it. An error before the
  /// commit leaves the cache unchanged.
  ///
  /// - Parameter shouldStop: Called before each entry; `true` cancels the whole import.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportInterruption``, or a `FileError` for the folder of
  ///   temporary files.
  public func carryOut(
    from archive: any ResponseArchive, in store: any ResponseStore, unless shouldStop: () -> Bool
  ) throws -> ImportResult {
    var staged: [Int64: ByteString] = [:]
    // A store may be found to be in use only when its lock is taken.
    let isStagedFirst = store.mayBeInUse
    func stage(_ entry: Entry, _ raw: RawResponse) throws {
      if staged[entry.number] == nil, let name = try store.stage(raw) {
        staged[entry.number] = name
      }
    }
    do {
      // CFNetwork gives up on a lock after one second. So no time that grows with the size of
      // bodies may be spent while the transaction holds the lock.
      if isStagedFirst {
        try forEachWritten(of: archive, unless: shouldStop, stage)
        try store.synchronizeStaged(staged.values.sorted())
      }
      var unneeded: [ByteString] = []
      // Complete before the commit, after which no error may be thrown.
      var result = ImportResult()
      try store.insert { insertion in
        var changed = Scratch.List<ImportResult.Entry>.Writer()
        unneeded = []
        try forEachWritten(of: archive, unless: shouldStop) { entry, raw in
          if !isStagedFirst { try stage(entry, raw) }
          let name = staged[entry.number]
          if try insertion.insert(raw, staged: name, replacing: entry.replaced) { return }
          try changed.append(.init(number: entry.number))
          if let name { unneeded.append(name) }
        }
        result = ImportResult(try changed.finish())
        // Those that were staged first are on disk already.
        return isStagedFirst ? [] : staged.values.sorted()
      }
      store.removeStaged(unneeded)
      return result
    } catch {
      store.removeStaged(Array(staged.values))
      throw error
    }
  }

  /// Reads the archive again, for the entries to import.
  private func forEachWritten(
    of archive: any ResponseArchive, unless shouldStop: () -> Bool,
    _ body: (Entry, RawResponse) throws -> Void
  ) throws {
    guard let last = lastWritten else { return }
    var rest = try entries.makeReader()
    var next = try rest.next()
    var number: Int64 = 0
    // The plan has verified all digests. A body that is imported is verified once more as it is
    // read.
    try archive.forEachEntry(verifyingBodies: false) { raw in
      if shouldStop() { throw ImportInterruption() }
      number += 1
      // Not right after the last entry to import: its body is verified when the next entry is read.
      if number > last { return .stop }
      guard let entry = next, entry.number == number else { return .next }
      next = try rest.next()
      if entry.isWritten { try body(entry, rewriting.applied(to: raw)) }
      // The next entry of a damaged archive may be the damaged one; the plan has verified this one, too.
      return damage != nil && number == archivedEntries ? .stop : .next
    }
    // The pass may have stopped before it could compare all of the archive with what the plan has seen.
    try archive.finish()
  }
}

/// An import that was cancelled before anything was changed.
public struct ImportInterruption: Error, Hashable, Sendable {}

extension ImportPlan {
  /// What happens to an entry of the archive.
  public enum Action: String, Hashable, Sendable, CaseIterable {
    /// The cache has no entry with its key.
    case add
    /// It replaces the entry with the same key.
    case replace
    /// The cache already has it, with the same contents.
    case unchanged
    /// The cache has a different entry with the same key, which is kept.
    case skip
    /// It is too incomplete for a cache.
    case reject
    /// Its method is not GET, and only GET is wanted.
    case otherMethod = "other-method"
    /// Its body could not be recovered, so an app could not use it.
    case lostBody = "lost-body"

    /// Whether the entry is imported.
    var isWritten: Bool { self == .add || self == .replace }
  }

  /// A selected entry of the archive.
  public struct Entry: Hashable, Sendable {
    /// The position in the archive, starting at 1.
    public var number: Int64
    /// Its URL.
    public var url: ByteString?
    /// The size of the body in bytes; `nil` if there is no body.
    public var size: ByteCount?
    /// What happens to it.
    public var action: Action
    /// Why it is rejected, or skipped for another entry of the archive: a clause.
    public var reason: String?
    /// The parts that the cache cannot store.
    public var losses: [ResponseLoss] = []
    /// The time at which it was last stored, according to the archive.
    var archived: Timestamp?
    /// Its key in the cache; `nil` if it has none.
    var key: TextDigest?
    /// The response that the cache has for its key.
    var standing: ResponseVersion?

    /// Whether the entry is imported.
    public var isWritten: Bool { action.isWritten }

    /// The response that it replaces.
    var replaced: ResponseVersion? { action == .replace ? standing : nil }

    /// Whether it is skipped for another entry of the archive.
    var isDuplicate: Bool { action == .skip && reason != nil }
  }
}

extension ImportPlan.Entry: ScratchRow {
  public func pack(into values: inout PackedValues) {
    values.append(number)
    values.append(url) { $0.append($1) }
    values.append(size) { $0.append($1.bytes) }
    values.append(choice: action)
    values.append(reason) { $0.append(ByteString($1)) }
    values.append(all: losses) { $0.append(choice: $1) }
    values.append(archived) { $0.append(time: $1) }
    values.append(key) { $0.append(digest: $1) }
    values.append(standing) { $0.append(version: $1) }
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    number = try reader.number()
    url = try reader.optionalText()
    size = try reader.optionalNumber().map { ByteCount($0) }
    action = try reader.choice()
    reason = try reader.optionalText().map { String(decoding: $0.bytes, as: UTF8.self) }
    losses = try reader.all { reader throws(PackedReader.Failure) in try reader.choice() }
    archived = try reader.optional { reader throws(PackedReader.Failure) in try reader.time() }
    key = try reader.optional { reader throws(PackedReader.Failure) in try reader.digest() }
    standing = try reader.optional { reader throws(PackedReader.Failure) in try reader.version() }
  }
}
