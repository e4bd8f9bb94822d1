public import Bytes
public import Files
public import ResponseArchives
public import ResponseStorage

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
  /// The folder for an unnamed file, which many entries need.
  let temporaryFolder: String
  private let totals: ImportTotals

  /// Plans to import the selected entries of an archive.
  ///
  /// - Parameters:
  ///   - target: The current cache, or a cache to be created.
  ///   - temporaryFolder: The folder for unnamed files, which many entries need.
  ///   - anyMethod: Whether to import responses to requests other than GET; an archive that restores caches always
  ///     includes them.
  ///   - rewriting: The changes to the entries, applied after the selection.
  ///   - salvaging: Whether damage to the archive ends the reading without an error.
  /// - Throws: ``ResponseArchiveError``, ``StoreError``, ``ImportConflict``, or a `FileError` for `temporaryFolder`.
  public init(
    importing archive: any ResponseArchive, _ selection: Selection,
    into target: any ResponseTarget, rule: ImportConflictRule, now: Timestamp,
    temporaryFolder: String, anyMethod: Bool = false, rewriting: ResponseRewriting = .init(),
    salvaging: Bool = false
  ) throws {
    let prepared = ImportPass(
      importing: archive, selection, into: target, rule: rule, now: now,
      temporaryFolder: temporaryFolder, anyMethod: anyMethod, rewriting: rewriting)
    var pass = prepared
    var end = try pass.run()
    if let repeated = try pass.firstRepeatedKey() {
      // No program writes such an archive, so read it once more, up to the entry with the repeated
      // key. Then the result is as if the entry had been recognized at once.
      pass = prepared
      end = try pass.run(endingAt: repeated)
    }
    let found = try pass.decided(by: rule, temporaryFolder)
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
    self.temporaryFolder = temporaryFolder
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
    var versions = SpooledSort<Replaced>(in: temporaryFolder) { $0.version.id < $1.version.id }
    var rest = try entries.makeReader()
    while let entry = try rest.next() {
      if let version = entry.replaced { try versions.insert(Replaced(version: version)) }
    }
    return ReplacedReader(versions: try versions.removeAll())
  }

  /// Reads the entries of the cache that are replaced, in ascending order of ids, as they were when the plan was made.
  public struct ReplacedReader {
    fileprivate var versions: MergedRuns<Replaced>

    /// Returns the next entry; `nil` at the end.
    public mutating func next() throws(FileError) -> ResponseVersion? {
      try versions.next()?.version
    }
  }

  /// An entry of the cache that is replaced.
  fileprivate struct Replaced: Spoolable {
    var version: ResponseVersion

    var textBytes: Int { version.key?.bytes.count ?? 0 }

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
    by rule: ImportConflictRule, _ temporaryFolder: String
  ) throws -> (PlannedEntries, ImportTotals) {
    let list = try finishEntries()
    // Keys that the cache has as they are in the archive are known to differ.
    guard hasMappedKeys else { return (PlannedEntries(list), totals) }
    var keys = EqualKeys(rule, temporaryFolder: temporaryFolder)
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
    at number: Int64, in list: SpooledList<ImportPlan.Entry>
  ) throws(FileError) -> ImportConflict {
    var rest = list.makeReader()
    while let entry = try rest.next() {
      if entry.number == number { return ImportConflict(url: entry.url, isInArchive: true) }
    }
    return ImportConflict(isInArchive: true)
  }
}
