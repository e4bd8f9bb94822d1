import Bytes
public import Files
import SQLite

extension StoreDescription.Format {
  /// `Cache.db` and `fsCachedData`, as CFNetwork writes them.
  public static let apple = Self(rawValue: "apple")
}

/// The store that CFNetwork keeps on Apple platforms: `Cache.db` and `fsCachedData`.
public final class AppleStore: StoreKind {
  let snapshot: AppleSnapshot
  let layout: AppleLayout
  let files: AppleStoreFiles
  var bodies: AppleBodyFiles
  /// The names of the body files; `nil` before they were read.
  private var bodyFileNames: AppleBodyFileNames?
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
  /// - Throws: ``StoreError``.
  public init(readingFrom path: String, wait: Int32) throws {
    self.wait = wait
    files = try AppleStoreFiles(at: path)
    snapshot = try AppleSnapshot(of: files, wait: wait)
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
    try self.init(readingFrom: opening.path, wait: opening.wait)
  }

  static func changing(
    _ opening: StoreOpening, verifying: Bool
  ) throws(StoreError) -> any IntentStore {
    try AppleStoreEditor(
      changing: opening.path, wait: opening.wait, verifying: verifying, intents: opening.intents)
  }

  static func intentPlace(at path: String) -> Intent.Place? {
    (try? AppleStoreFiles(at: path)).flatMap { Intent.Place(.apple, $0.bodies) }
  }

  static func erasurePlace(at path: String) -> Intent.Place? {
    (try? AppleStoreFiles(at: path)).flatMap { Intent.Place(erasureOf: $0.database) }
  }

  static let format = StoreDescription.Format.apple

  static let traits = StoreTraits(
    words: "Apple cache", hasDatabase: true, countsOrphans: true, canChangeUserInfo: true)

  static let mark = "a Cache.db"

  /// Whether a folder contains a `Cache.db`. Any file may be a database.
  static func isStore(at path: String, isFolder: Bool) throws(StoreError) -> Bool {
    // A database is recognized by its tables when it is opened. Its name proves nothing: apps give
    // it others, and other components use this one.
    !isFolder || (try? FileStatus.of(path + "/Cache.db")) != nil
  }

  static func place(at path: String) -> (folder: String, database: String?)? {
    (try? AppleStoreFiles(at: path)).map { ($0.folder, $0.databaseName) }
  }

  static func forEachFile(
    _ opening: StoreOpening, _ body: (StoreFile, borrowing OpenFile) throws -> Void
  ) throws {
    let files = try AppleStoreFiles(at: opening.path)
    let named = try namesOfBodies(opening)
    let folder = try Directory(files.folder, followingLink: true)
    // SQLite has no connection here any more: closing these files would drop its locks.
    for suffix in ["", "-wal", "-shm", "-journal"] {
      let name = Array((files.databaseName + suffix).utf8)
      let file = StoreFile(name: ByteString(name), isOfEntry: false)
      try StoreOpening.open(name, in: folder) { try body(file, $0) }
    }
    let bodies: Directory
    do throws(FileError) { bodies = try Directory(files.bodies) } catch {
      guard error.kind == .notFound else { throw error }
      return
    }
    for name in try StoreOpening.names(in: bodies) {
      try StoreOpening.open(name, in: bodies) {
        let isNamed = UUIDBytes(name).map { named.contains($0) } ?? false
        let shown = Array("\(AppleStoreWriter.bodyFolderName)/".utf8) + name
        try body(StoreFile(name: ByteString(shown), isOfEntry: isNamed), $0)
      }
    }
  }

  /// Returns the names of the body files of all responses, and closes the store.
  private static func namesOfBodies(_ opening: StoreOpening) throws -> Set<UUIDBytes> {
    let store = try AppleStore(opening)
    let names = try store.namedBodyFiles().all
    try store.finish()
    return names
  }

  static func removedEntries(
    _ opening: StoreOpening, _ options: RemovedEntriesOptions
  ) throws -> any RemovedEntries {
    try RecoveredStore.find(in: opening, options)
  }

  /// Returns the app of `…/Caches/APP/Cache.db`, where the shared `URLCache` is, and any cache without a `diskPath`.
  ///
  /// A given path is below the folder of the app. In a container, the folder has the name of the container, unless the
  /// container has a UUID instead of a name.
  static func application(ofStoreAt path: String) -> String? {
    var names = path.utf8.split(separator: UInt8(ascii: "/"))
    guard let file = names.popLast(), file.elementsEqual("Cache.db".utf8),
      let app = names.popLast(), let parent = names.popLast(),
      parent.elementsEqual("Caches".utf8)
    else { return nil }
    if let place = names.lastIndex(where: { $0.elementsEqual("Containers".utf8) }),
      names[(place + 1)...].dropFirst().elementsEqual(
        ["Data", "Library"], by: { $0.elementsEqual($1.utf8) }),
      !names[place + 1].elementsEqual(app)
    {
      return nil
    }
    return String(decoding: Array(app), as: UTF8.self)
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
    var neighbours = NeighbouringDatabases(of: files)
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

// Reading bodies, from the database or from their files.
extension AppleStore {
  /// The length up to which a body is read as a value of its row, in bytes. A BLOB handle bounds the memory, but opening
  /// one takes longer than reading this much.
  static let longestValue: ByteCount = 65_536

  public func work<Work: EntryWork>(
    _ projection: Projection, with work: Work,
    _ receive: (EntryWorkResult<Work>) throws -> Void
  ) throws -> Bool {
    guard processorCount > 1, let database = snapshot.databaseForWork else { return false }
    try translatingErrors {
      try AppleBodyScan(
        of: database, layout, completed(projection), bodiesAt: files.bodies,
        threadCount: min(processorCount, 4), with: work
      ).forEachResult(receive)
    }
    return true
  }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let response = try response(id, .body) else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    try withBody(of: response, read)
  }

  public func withBody(
    of response: borrowing StoredResponse, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard response.decoded.contains(.body) else { return try withBody(of: response.id, read) }
    guard case .row(let row) = response.id else {
      throw StoreError(.noSuchResponse, at: files.path)
    }
    if response.bodyFileName != nil {
      var reader = try bodies.open(response.bodyFileName)
      try read(&reader)
      return
    }
    guard response.bodyLocation == .inline else {
      throw StoreError(.noSuchResponse, at: files.path, because: "the entry has no body")
    }
    var reader = try openRow(row, size: response.bodySize)
    try read(&reader)
  }

  /// Opens a body in the database.
  ///
  /// - Parameter size: Its length, if it is known.
  private func openRow(_ row: Int64, size: ByteCount?) throws -> BodyReader {
    do throws(SQLiteError) {
      if let size, size <= Self.longestValue, let bytes = try value(inRow: row) {
        return BodyReader(bytes)
      }
      return BodyReader(
        try snapshot.connection.blob(table: layout.bodyTable, column: "receiver_data", row: row))
    } catch {
      throw try translated(error)
    }
  }

  /// Returns the body in a row; `nil` if there is no such row, or no body in it.
  private func value(inRow row: Int64) throws(SQLiteError) -> [UInt8]? {
    // Opening a BLOB compiles a statement each time; this one is compiled once.
    if bodyRows == nil {
      bodyRows = try snapshot.connection.prepare(
        "SELECT receiver_data FROM \(layout.bodyTable) WHERE entry_ID = ?1")
    }
    defer { bodyRows?.reset() }
    try bodyRows?.bind(integer: row, at: 1)
    guard try bodyRows?.step() == true else { return nil }
    switch bodyRows?.type(at: 0) {
    case .blob, .text: return bodyRows?.bytes(at: 0)
    default: return nil
    }
  }
}

// Comparing entries without decoding them.
extension AppleStore {
  public func forEachDigest(
    includingBodies: Bool, _ body: (DigestedEntry) throws -> Void
  ) throws -> Bool {
    try translatingErrors {
      if let database = databaseForThreads {
        return try AppleDigestScan(
          of: database, layout, bodiesAt: files.bodies, readingBodies: includingBodies,
          in: idRanges(64), threadCount: min(processorCount, 4)
        ).forEachEntry(body)
      }
      var reader = try AppleContentReader(
        snapshot.connection, layout, bodiesAt: files.bodies, readingBodies: includingBodies)
      try reader.begin(in: .min ... .max)
      while let entry = try reader.next() {
        WorkCounter.add()
        try body(entry)
      }
    }
    return true
  }

  public func forEachRawResponse(
    of ids: [Int64], _ body: (RawResponse) throws -> Void
  ) throws {
    do {
      var rows = try AppleRawRows(snapshot.connection, layout)
      for id in ids {
        guard let (raw, long, file) = try rows.response(id) else { continue }
        try body(filled(raw, long, file))
      }
    } catch let error as SQLiteError {
      throw try translated(error)
    }
  }

  /// Returns ranges that together contain all ids.
  private func idRanges(_ count: Int) throws -> [ClosedRange<Int64>] {
    let tables = Set([AppleLayout.responses, AppleLayout.blobs, layout.bodyTable]).sorted()
    // Two queries: only a search for one end of a table needs no scan.
    func end(_ function: String) throws -> Int64 {
      let ends = tables.map { "SELECT \(function)(entry_ID) AS id FROM \($0)" }
      return try integer("SELECT \(function)(id) FROM (\(ends.joined(separator: " UNION ALL ")))")
    }
    let (first, last) = (try end("min"), try end("max"))
    // Ids of a hostile database can be far apart, so distances have no sign.
    let distance = UInt64(bitPattern: last &- first)
    let step = distance / UInt64(count) + 1
    var ranges: [ClosedRange<Int64>] = []
    var start: UInt64 = 0
    while start <= distance {
      let end = start + min(step - 1, distance - start)
      ranges.append((first &+ Int64(bitPattern: start))...(first &+ Int64(bitPattern: end)))
      guard end < distance else { break }
      start = end + 1
    }
    return ranges
  }
}

extension AppleStore {
  static func mark(at path: String, isObserved: Bool) throws(StoreError) -> StoreMark {
    let files = try AppleStoreFiles(at: path)
    let state = try files.state()
    let header = bytes(0..<100, of: files.database)
    let index = bytes(0..<96, of: files.shm)
    let indexIdentity = (try? FileStatus.of(files.shm))?.identity ?? []
    return StoreMark(
      of: state.database, [state.wal, state.journal], header: header + index,
      counter: counter(state.database.identity, header, indexIdentity, index))
  }

  /// Returns the number of ids that SQLite has given to entries, which it keeps in `sqlite_sequence`.
  public func entriesEverStored() throws -> Int64? {
    do throws(SQLiteError) {
      // Without AUTOINCREMENT there is no such table, and ids of removed rows are given again.
      var rows = try snapshot.connection.prepare(
        "SELECT seq FROM sqlite_sequence WHERE name = '\(AppleLayout.responses)' COLLATE NOCASE")
      // The row appears with the first entry.
      guard try rows.step() else { return 0 }
      guard rows.type(at: 0) == .integer, rows.integer(at: 0) >= 0 else { return nil }
      return rows.integer(at: 0)
    } catch {
      guard error.kind == .other else { throw try translated(error) }
      return nil
    }
  }

  /// Reads a part of a file without a lock; empty if that fails.
  ///
  /// Only while this process has no connection to the database, as closing a file drops its locks.
  private static func bytes(_ range: Range<Int64>, of file: String) -> [UInt8] {
    (try? OpenFile(reading: file).read(range.count, at: range.lowerBound)) ?? []
  }

  /// Returns the counter of transactions: in WAL mode in the index of the log ("WAL-mode File Format", §2.3.1), which
  /// begins with two equal copies of a header, otherwise in the header of the database ("Database File Format", §1.3.6).
  private static func counter(
    _ database: [UInt64], _ header: [UInt8], _ indexIdentity: [UInt64], _ index: [UInt8]
  ) -> StoreMark.Counter? {
    guard header.count == 100 else { return nil }
    guard header[18] == 2 else {
      let value = header[24..<28].reduce(0) { $0 << 8 | UInt32($1) }
      return StoreMark.Counter(file: database, value: value, beginsAtZero: false)
    }
    // Unequal copies mean that a transaction is being committed right now.
    guard index.count == 96, index[12] == 1, index[..<48].elementsEqual(index[48...]) else {
      return nil
    }
    // Numbers in the index are in the byte order of the processor.
    let value = index[8..<12].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    return StoreMark.Counter(file: indexIdentity, value: value, beginsAtZero: true)
  }
}
