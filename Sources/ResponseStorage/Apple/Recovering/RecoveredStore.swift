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
    var key: ByteString?
    var stored: Double
    /// The last state of the database that had it.
    var to: Int64
  }

  let images: PageImages
  let reader: RowReader
  let rows: [FoundRow]
  var entries: [Entry] = []
  /// The places of the entries by their ids.
  var places: [Int64: Int] = [:]
  let bodies: AppleBodyFiles
  private let options: Options
  // It holds the locks under which the files are read.
  private(set) var store: AppleStore?

  public let description: StoreDescription

  /// Why SQLite cannot read the database; `nil` if it can.
  public let damage: StoreError?

  /// Whether the file is a database, or has anything of a cache; any file could be given as a damaged one.
  public var isDatabase: Bool { images.hasHeader || !rows.isEmpty }

  /// Looks for the entries of the store at a path.
  ///
  /// - Parameters:
  ///   - opening: How to open the cache.
  ///   - options: What to look for.
  /// - Throws: ``StoreError``.
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
      let isReadable = error.code == .damaged || error.code == .notACache
      guard options.isDamaged, isReadable else { throw error }
      damage = error
      store = nil
    }
    images = try PageImages(
      files, isDamaged: options.isDamaged,
      copyingLogTo: store?.description.inUse == true ? opening.temporaryFolder : nil)
    let scan = RecoveryScan(images, isDamaged: options.isDamaged)
    try scan.run()
    try scan.markPresent()
    reader = scan.reader
    rows = scan.takeRows()
    bodies = AppleBodyFiles(at: files.bodies)
    description = StoreDescription(
      path: opening.path, format: .apple, schemaVersion: store?.description.schemaVersion,
      identity: try files.state().database.identity,
      rawPropertyLists: ["response_object", "request_object", "proto_props", "user_info"],
      notes: store?.description.notes ?? [])
    let joining = RecoveryJoining(rows)
    try add(joining.entries, liveKeys: scan.liveKeys)
    if !options.withVersions { keepNewest() }
    number()
    try images.verifyUnchanged()
  }

  /// Looks for the entries of a store, again if an app changes it meanwhile.
  ///
  /// - Throws: ``StoreError``.
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
  public func fact(of id: StoredResponse.ID) -> Fact? {
    guard case .row(let number) = id else { return nil }
    return places[number].map { entries[$0].fact }
  }

  /// What is known of all entries, in the order of their ids.
  public var facts: [Fact] { entries.map(\.fact) }

  private func add(
    _ joined: [RecoveryJoining.Joined], liveKeys: Set<ByteString.Hash>
  ) throws {
    let shown = Set(rows.lazy.filter { $0.table == .responses && $0.isLive }.compactMap(\.id))
    for rows in joined {
      let found = rows.rows.map { self.rows[$0] }
      // SQLite shows the response, even if another row of the entry has changed.
      if let row = rows.blob.map({ self.rows[$0] }), row.isLive, row.id.map(shown.contains) == true
      {
        continue
      }
      guard let first = found.first(where: { !$0.isLive }) ?? found.first else { continue }
      // SQLite shows it as it is.
      if found.allSatisfy(\.isLive) { continue }
      let key =
        rows.response.flatMap { self.rows[$0].text } ?? rows.key.flatMap { self.rows[$0].text }
        ?? rows.blob.flatMap { self.rows[$0].text }.map { AppleCacheKey(of: $0).text }
      let isOlder =
        found.contains(where: \.isLive) || key.map { liveKeys.contains($0.digest) } ?? false
      let blob = rows.blob.map { self.rows[$0] }
      var entry = Entry(
        fact: Fact(
          id: .row(0), entryID: found.lazy.compactMap(\.id).first, confidence: .onlyURL,
          place: (blob.flatMap { $0.isLive ? nil : $0 } ?? first).place, isOlderVersion: isOlder),
        rows: rows, key: key, stored: blob?.stored ?? first.stored,
        to: found.map(\.to).max() ?? 0)
      // A key that is left in an index says nothing new of an entry that the cache has.
      if rows.blob == nil, isOlder { continue }
      if rows.blob != nil {
        let hasBody = try hasBody(rows)
        entry.fact.confidence =
          !hasBody ? .bodyMissing : rows.isBodyCertain ? .complete : .bodyUncertain
        if !hasBody || !rows.isBodyCertain && !options.withUncertainBodies {
          entry.rows.body = nil
        }
      }
      entries.append(entry)
    }
  }

  /// Whether the body of an entry is still there, and can be the one that its property lists describe.
  private func hasBody(_ joined: RecoveryJoining.Joined) throws -> Bool {
    guard let row = joined.body.map({ rows[$0] }), let body = try body(of: row) else {
      return false
    }
    // The length of a file is known only now.
    guard body.isFile, let blob = joined.blob.map({ rows[$0] }),
      !joined.isBodyCertain || row.from != blob.from, let size = blob.bodySize
    else { return true }
    return body.body.size == size
  }
}
