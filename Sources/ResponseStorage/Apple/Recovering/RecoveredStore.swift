import Bytes
import Files
import SQLitePages

/// The entries that a cache no longer shows, read like a store.
///
/// They are found in the pages of its database, in its log and in its journal, without SQLite. Nothing is written.
public final class RecoveredStore: ResponseSource {
  /// What to look for.
  public struct Options: Hashable, Sendable {
    /// Whether to take all that can still be read, as from a database that SQLite cannot read.
    public var isDamaged = false

    /// Whether to keep all versions of an entry, also those of entries that the cache has now; otherwise only the newest
    /// version of each entry that it does not have.
    public var withVersions = false

    /// Whether entries have bodies that may belong to another version of them.
    public var withUncertainBodies = false

    /// Creates the options of a plain search.
    public init() {}
  }

  /// What is known of a recovered entry, besides its rows.
  public struct Fact: Hashable, Sendable {
    /// The id in this source. It is the one that the entry had in the cache, or a number after all of those if the id is
    /// overwritten or another version has it.
    public var id: StoredResponse.ID
    /// The id that the entry had in the cache, if it is known.
    public var entryID: Int64?
    /// How much was recovered.
    public var confidence: RecoveryConfidence
    /// Where it was found.
    public var place: RecoveredPlace
    /// Whether the cache has a newer version of it.
    public var isOlderVersion: Bool
  }

  /// An entry with its rows.
  struct Entry {
    var fact: Fact
    var rows: RecoveryJoining.Joined
    var stored: Double
    /// The last state of the database that had it.
    var to: Int64

    /// The key, as far as a row has it.
    var key: ByteString? {
      rows.response?.text ?? rows.key?.text ?? rows.blob?.text.map { AppleCacheKey(of: $0).text }
    }
  }

  let images: PageImages
  let reader: RowReader
  let entries: RecoveredEntries
  let bodies: AppleBodyFiles
  private let options: Options
  // It holds the locks under which the files are read.
  private(set) var store: AppleStore?

  public let description: StoreDescription

  /// Why SQLite cannot read the database; `nil` if it can.
  public let damage: StoreError?

  /// Whether the file is a database, or has anything of a cache; any file could be given as a damaged one.
  public let isDatabase: Bool

  /// Looks for the entries of the store at a path.
  ///
  /// - Parameters:
  ///   - opening: How to open the cache.
  ///   - options: What to look for.
  /// - Throws: ``StoreError``, or an error of a temporary file.
  public init(_ opening: StoreOpening, _ options: Options) throws {
    self.options = options
    let isFolder = try StoreOpening.isFolder(opening.path)
    if try !AppleStore.isStore(at: opening.path, isFolder: isFolder),
      try FoundationStore.isStore(at: opening.path, isFolder: isFolder)
    {
      throw StoreError(
        .unsupported, at: opening.path, because: "a Foundation cache keeps no removed entries")
    }
    let files = try AppleStoreFiles(at: opening.path)
    do {
      store = try AppleStore(opening)
      damage = nil
    } catch let error as StoreError {
      let isReadable = [.damaged, .notACache, .unfinished].contains(error.code)
      guard options.isDamaged, isReadable else { throw error }
      damage = error
      store = nil
    }
    images = try PageImages(
      files, isDamaged: options.isDamaged,
      copyingLogTo: store?.description.inUse == true ? opening.temporaryFolder : nil)
    let rows = try FoundRows()
    let scan = RecoveryScan(images, into: rows, isDamaged: options.isDamaged)
    try scan.run()
    try scan.markPresent()
    reader = scan.reader
    reader.forgetBodies()
    isDatabase = try images.hasHeader || !rows.isEmpty()
    entries = try RecoveredEntries()
    bodies = AppleBodyFiles(at: files.bodies)
    description = StoreDescription(
      path: opening.path, format: .apple, schemaVersion: store?.description.schemaVersion,
      identity: try files.state().database.identity,
      rawPropertyLists: ["response_object", "request_object", "proto_props", "user_info"],
      notes: store?.description.notes ?? [])
    try rows.forEachGroup { try add($0, liveKeys: scan.liveKeys) }
    try entries.number(withVersions: options.withVersions)
    try images.verifyUnchanged()
  }

  /// Looks for the entries of a store, again if an app changes it meanwhile.
  ///
  /// - Throws: ``StoreError``, or an error of a temporary file.
  public static func find(
    in opening: StoreOpening, _ options: Options
  ) throws -> RecoveredStore {
    for _ in 0..<3 {
      do { return try RecoveredStore(opening, options) } catch let error as StoreError {
        if error.code != .changedWhileReading { throw error }
      }
    }
    return try RecoveredStore(opening, options)
  }

  deinit {
    // SQLite's locks first: closing any descriptor of the database drops them.
    store = nil
  }

  /// Returns what is known of an entry.
  ///
  /// - Throws: An error of a temporary file.
  public func fact(of id: StoredResponse.ID) throws -> Fact? { try entries.entry(id)?.fact }

  /// Adds the entries that rows with one id belong to.
  private func add(_ group: FoundRows.Group, liveKeys: Set<ByteString.Hash>) throws {
    for rows in RecoveryJoining(group.rows).entries {
      let found = rows.rows
      // SQLite shows the response, even if another row of the entry has changed.
      if group.isShown, rows.blob?.isLive == true { continue }
      guard let first = found.first(where: { !$0.isLive }) ?? found.first else { continue }
      // SQLite shows it as it is.
      if found.allSatisfy(\.isLive) { continue }
      var entry = Entry(
        fact: Fact(
          id: .row(0), entryID: found.lazy.compactMap(\.id).first, confidence: .onlyURL,
          place: (rows.blob.flatMap { $0.isLive ? nil : $0 } ?? first).place,
          isOlderVersion: found.contains(where: \.isLive)),
        rows: rows, stored: rows.blob?.stored ?? first.stored, to: found.map(\.to).max() ?? 0)
      if let key = entry.key, liveKeys.contains(key.digest) { entry.fact.isOlderVersion = true }
      // A key that is left in an index says nothing new of an entry that the cache has.
      if rows.blob == nil, entry.fact.isOlderVersion { continue }
      if rows.blob != nil {
        let hasBody = try hasBody(rows)
        entry.fact.confidence =
          !hasBody ? .bodyMissing : rows.isBodyCertain ? .complete : .bodyUncertain
        if !hasBody || !rows.isBodyCertain && !options.withUncertainBodies {
          entry.rows.body = nil
        }
      }
      try entries.append(entry)
    }
  }

  /// Whether the body of an entry is still there, and can be the one that its property lists describe.
  private func hasBody(_ joined: RecoveryJoining.Joined) throws -> Bool {
    guard let row = joined.body, let body = try body(of: row) else { return false }
    // The length of a file is known only now.
    guard body.isFile, let blob = joined.blob,
      !joined.isBodyCertain || row.from != blob.from, let size = blob.bodySize
    else { return true }
    return body.body.size == size
  }
}
