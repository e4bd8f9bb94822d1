import Bytes
import Files
import SQLite

extension StoreDescription.Format {
  /// `Cache.db` and `fsCachedData`, as CFNetwork writes them.
  public static let apple = Self(rawValue: "apple")

  /// Whether responses are in a database, whose file does not shrink when one is removed; otherwise each
  /// response is a file.
  public var hasDatabase: Bool { self == .apple }
}

/// The store that CFNetwork keeps on Apple platforms: `Cache.db` and `fsCachedData`.
public final class AppleStore: StoreKind {
  let snapshot: AppleSnapshot
  let layout: AppleLayout
  let files: AppleStoreFiles
  var bodies: AppleBodyFiles
  /// The names of the body files; `nil` before they were read.
  private var bodyFileNames: AppleBodyFileNames?
  /// The folder for private copies.
  let temporaryFolder: String
  /// Reads short bodies from the database; `nil` before the first one.
  var bodyRows: Statement?
  /// The last search for damage; `nil` if nobody needs it any more.
  weak var search: DamageSearch?
  /// How long to wait for another process's lock, in milliseconds.
  private let wait: Int32
  /// What the other databases in the folder say about the body files; `nil` before somebody asks.
  private var readNeighbours: NeighbouringDatabases?

  public let description: StoreDescription

  /// The version of the SQLite library that is linked, for example `3.40.1`.
  public static var libraryVersion: String { Connection.libraryVersion }

  /// Opens the store at `path` for reading.
  ///
  /// - Parameters:
  ///   - path: The database, under any name, or the folder of a `Cache.db`.
  ///   - wait: How long to wait for another process's lock, in milliseconds.
  ///   - temporaryFolder: The folder for a private copy if a transaction has to be rolled back.
  /// - Throws: ``StoreError``.
  public init(
    readingFrom path: String, wait: Int32, temporaryFolder: String
  ) throws {
    self.temporaryFolder = temporaryFolder
    self.wait = wait
    files = try AppleStoreFiles(at: path)
    snapshot = try AppleSnapshot(of: files, wait: wait, temporaryFolder: temporaryFolder)
    guard let layout = snapshot.layout else { throw StoreError(.notACache, at: path) }
    self.layout = layout
    bodies = AppleBodyFiles(at: files.bodies)
    description = StoreDescription(
      path: path, format: .apple, schemaVersion: layout.schemaVersion,
      identity: try files.state().database.identity, inUse: snapshot.inUse,
      holder: snapshot.holder,
      rawPropertyLists: ["response_object", "request_object", "proto_props", "user_info"],
      notes: snapshot.notes + layout.notes,
      readOnlyReason: snapshot.oddities.first ?? layout.readOnlyReason)
  }

  convenience init(_ opening: StoreOpening) throws {
    try self.init(
      readingFrom: opening.path, wait: opening.wait, temporaryFolder: opening.temporaryFolder)
  }

  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    try AppleStoreEditor(
      changing: opening.path, wait: opening.wait, verifying: verifying, intents: opening.intents,
      temporaryFolder: opening.temporaryFolder)
  }

  static func intentPlace(at path: String) -> Intent.Place? {
    (try? AppleStoreFiles(at: path)).flatMap { Intent.Place(.apple, $0.bodies) }
  }

  static func erasurePlace(at path: String) -> Intent.Place? {
    (try? AppleStoreFiles(at: path)).flatMap { Intent.Place(erasureOf: $0.database) }
  }

  static let mark = "a Cache.db"

  /// Whether a folder contains a `Cache.db`. Any file may be a database.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool {
    // A database is recognized by its tables when it is opened. Its name proves nothing: apps give
    // it others, and other components use this one.
    !isFolder || (try? FileStatus.of(path + "/Cache.db")) != nil
  }

  /// Runs `body`, and rethrows errors of SQLite as errors of the store.
  func translatingErrors(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      throw try translated(error)
    } catch is DisorderedRows {
      // Rows can seem out of order because another process is writing: report that first.
      try snapshot.verifyUnchanged()
      throw StoreError(.damaged, at: files.path, because: "its rows are out of order")
    }
  }

  public func count() throws -> Int64 {
    let tables = Set([AppleLayout.responses, AppleLayout.blobs, layout.bodyTable]).sorted()
    // SQLite counts the rows of a table with its smallest index, which took 10 ms for 1,000,000
    // responses.
    let counts = try tables.map { try integer("SELECT count(*) FROM \($0)") }
    guard Set(counts).count > 1 else { return counts[0] }
    // Some responses lack rows: count what a scan would list.
    let ids = tables.map { "SELECT entry_ID FROM \($0)" }.joined(separator: " UNION ")
    return try integer("SELECT count(*) FROM (\(ids))")
  }

  public func count(upTo limit: Int64) throws -> Int64? {
    // The entries are at least as many as the rows of any table. To skip rows takes a third of the time of counting them.
    let following = try integer(
      "SELECT count(*) FROM (SELECT 1 FROM \(AppleLayout.responses) LIMIT 1 OFFSET \(max(0, limit)))"
    )
    if following > 0 { return nil }
    let count = try count()
    return count > limit ? nil : count
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    // The name becomes part of the SQL, so only the four known ones are accepted.
    guard description.rawPropertyLists.contains(name), case .row(let row) = id else { return nil }
    do throws(SQLiteError) {
      var rows = try snapshot.connection.prepare(
        "SELECT \(name) FROM \(AppleLayout.blobs) WHERE entry_ID = \(row)")
      guard try rows.step(), rows.type(at: 0) != .null else { return nil }
      return rows.bytes(at: 0)
    } catch {
      throw try translated(error)
    }
  }

  public func footprint() throws -> Footprint {
    var footprint = Footprint()
    for (path, field) in [
      (files.database, \Footprint.databaseBytes), (files.wal, \.walBytes), (files.shm, \.shmBytes),
    ] as [(String, WritableKeyPath<Footprint, ByteCount>)] {
      guard let status = try? FileStatus.of(path) else { continue }
      footprint[keyPath: field] = status.size
      footprint.allocatedBytes += status.allocatedSize
    }
    let pageSize = ByteCount(try integer("PRAGMA page_size"))
    footprint.freeBytes = pageSize * Int(try integer("PRAGMA freelist_count"))
    footprint.pageBytes = pageSize
    // An empty database keeps these pages, which no removal gives back. A limit below this size
    // cannot be met, and the plan must not count on it.
    let trees = try integer("SELECT count(*) FROM sqlite_master WHERE rootpage > 0")
    footprint.emptyBytes = pageSize * Int(1 + trees)
    footprint.growthBytes =
      pageSize * Int(try integer("PRAGMA page_count")) - footprint.databaseBytes
    var named: Set<UUIDBytes>?
    try bodies.forEachFile { name, status in
      guard status.kind == .regular else { return }
      // Sums of `ByteCount` do not overflow: a sparse file can have any length.
      footprint.bodyFilesBytes += status.size
      footprint.allocatedBytes += status.allocatedSize
      if named == nil { named = try namedBodyFiles().all }
      if let name = UUIDBytes(name), named?.contains(name) == true || neighbours.mayName(name) {
        return
      }
      footprint.orphanFiles += 1
      footprint.orphanBytes += status.size
    }
    return footprint
  }

  public func finish() throws {
    try snapshot.verifyUnchanged()
  }

  /// Returns the names of the body files that responses refer to.
  func namedBodyFiles() throws -> AppleBodyFileNames {
    if let bodyFileNames { return bodyFileNames }
    do throws(SQLiteError) {
      let names = try AppleBodyFileNames(in: snapshot.connection, layout)
      bodyFileNames = names
      return names
    } catch {
      throw try translated(error)
    }
  }

  /// What the other databases in the folder say about the body files; read once, when it is first needed.
  var neighbours: NeighbouringDatabases {
    if let readNeighbours { return readNeighbours }
    var neighbours = NeighbouringDatabases(of: files, temporaryFolder: temporaryFolder)
    neighbours.read(waiting: wait)
    readNeighbours = neighbours
    return neighbours
  }

  public func keptBodyFiles() -> KeptBodyFiles { KeptBodyFiles(neighbours) }

  /// Returns the first value of a query as an integer; 0 if it is `NULL`.
  func integer(_ sql: String) throws -> Int64 {
    do throws(SQLiteError) {
      var rows = try snapshot.connection.prepare(sql)
      return try rows.step() ? rows.integer(at: 0) : 0
    } catch {
      throw try translated(error)
    }
  }

  /// Returns an error of SQLite as an error of the store.
  ///
  /// - Throws: ``StoreError`` if the store changed meanwhile, which explains any damage.
  func translated(_ error: SQLiteError) throws -> StoreError {
    try snapshot.verifyUnchanged()
    return StoreError(error, path: files.path)
  }
}
