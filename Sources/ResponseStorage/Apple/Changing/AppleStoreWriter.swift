public import Bytes
internal import Files
internal import SQLite

/// Creates an Apple store: `Cache.db`, and the folder `fsCachedData` for larger bodies.
///
/// All rows are inserted in one transaction, which ``finish()`` commits; until then the store has no
/// responses. The database is filled without a write-ahead log and switched to WAL at the end, so
/// that each page is written once and only `Cache.db` remains.
public struct AppleStoreWriter: ~Copyable {
  /// The stored values of one response.
  public struct Row: Hashable, Sendable {
    /// The cache key, which must be unique.
    public var key: ByteString

    /// When the response was first stored, kept as whole seconds.
    public var firstStored: Timestamp

    /// Whether the response was stored again later, which changes how the hash of the key is stored.
    public var wasUpdated: Bool

    /// The raw value of `URLCache.StoragePolicy` on Apple platforms.
    public var storagePolicy: Int64

    /// The cache partition; the key must end with it.
    public var partition: ByteString?

    /// The property list of an ``AppleMessage/Response``.
    public var response: [UInt8]

    /// The property list of an ``AppleMessage/Request``.
    public var request: [UInt8]

    /// The property list of the `Vary` record and the request's properties.
    public var protocolProperties: [UInt8]?

    /// The body.
    public var body: Body

    /// Creates a row.
    public init(
      key: ByteString, firstStored: Timestamp, wasUpdated: Bool = false, storagePolicy: Int64 = 0,
      partition: ByteString? = nil, response: [UInt8], request: [UInt8],
      protocolProperties: [UInt8]? = nil, body: Body
    ) {
      self.key = key
      self.firstStored = firstStored
      self.wasUpdated = wasUpdated
      self.storagePolicy = storagePolicy
      self.partition = partition
      self.response = response
      self.request = request
      self.protocolProperties = protocolProperties
      self.body = body
    }
  }

  /// The body of a response.
  public enum Body: Hashable, Sendable {
    /// The bytes, which the writer puts into the row or into a body file.
    case bytes([UInt8])

    /// The name of a file in `fsCachedData` that the caller creates.
    // The generator of sample caches names files here that it never creates, as some caches lack them.
    case file(ByteString)
  }

  /// The size in bytes from which a body is stored in a body file (`apple-cache.md`, "Body").
  // In schemas 202 and 203, the largest body in a row that was seen has 4,075 bytes, and the
  // smallest in a file 4,161. A reader goes by `isDataOnFS` alone, so a body on the other side of
  // the limit does no harm.
  public static let fileThreshold = 4096

  /// The name of the database of a store.
  public static let databaseName = "Cache.db"

  /// The name of the folder of body files of a store.
  public static let bodyFolderName = "fsCachedData"

  private let path: String
  private let bodyFolder: String
  private let fileThreshold: Int
  private let isDurable: Bool
  /// The statements that fill the response table and create the indexes after all rows; none unless in bulk.
  private let completion: [String]
  private let connection: Connection
  private var responses: Statement
  private var blobs: Statement
  private var bodies: Statement
  private var lastID: Int64 = 0

  /// Creates an empty store, and its folder if there is none.
  ///
  /// - Parameters:
  ///   - directory: The folder to create the store in.
  ///   - schema: The schema of the database.
  ///   - isDurable: Whether to wait until the files are on disk, which a generated store does not need.
  ///   - storesAllInline: Whether to keep bodies of any size in the database.
  ///   - isBulk: Whether ``finish()`` creates the indexes, which is faster from about a million responses on. A key
  ///     that occurs twice is then an error only there.
  /// - Throws: ``StoreError``, also if the folder already contains a store.
  public init(
    creating directory: String, schema: AppleSchema, isDurable: Bool = true,
    storesAllInline: Bool = false, isBulk: Bool = false
  ) throws(StoreError) {
    let path = "\(directory)/\(Self.databaseName)"
    let bodyFolder = "\(directory)/\(Self.bodyFolderName)"
    let connection = try Self.translatingErrors(at: path) {
      try Self.createFolder(directory)
      // SQLite would open an existing file; this fails instead.
      _ = try OpenFile(creating: path)
      do {
        try Self.createFolder(bodyFolder)
        return try Self.createDatabase(path, schema, isDurable: isDurable, isBulk: isBulk)
      } catch {
        NewStoreFiles.removeDatabase(in: directory)
        throw error
      }
    }
    let responses = try Self.translatingErrors(at: path) {
      try connection.prepare(
        AppleSchema.responseInsertion(
          into: isBulk ? AppleSchema.stagingTable : AppleLayout.responses))
    }
    let blobs = try Self.translatingErrors(at: path) {
      try connection.prepare(AppleSchema.blobInsertion)
    }
    let bodies = try Self.translatingErrors(at: path) {
      try connection.prepare(AppleSchema.bodyInsertion)
    }
    // Nothing may throw from here on: a noncopyable value is initialized completely or not at all.
    self.connection = connection
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
    self.path = path
    self.bodyFolder = bodyFolder
    self.isDurable = isDurable
    completion = isBulk ? schema.bulkCompletion : []
    fileThreshold = storesAllInline ? .max : Self.fileThreshold
  }

  /// Inserts a response.
  ///
  /// - Parameters:
  ///   - row: The response to store.
  ///   - generator: The random numbers for the name of a body file.
  /// - Returns: The id of the rows in all three tables.
  @discardableResult
  public mutating func insert(
    _ row: Row, using generator: inout some RandomNumberGenerator
  ) throws(StoreError) -> Int64 {
    let id = lastID + 1
    do {
      // The file comes first: a row that refers to a missing file is worse than a file without a
      // row.
      let body = try place(row.body, using: &generator)
      try insertResponse(row, as: id)
      try insertBlobs(of: row, as: id)
      try insert(body, as: id)
    } catch {
      throw Self.storeError(error, at: path)
    }
    lastID = id
    return id
  }

  /// Commits all rows, and sets the journal mode that CFNetwork uses.
  public consuming func finish() throws(StoreError) {
    do {
      for statement in completion { try connection.execute(statement) }
      // The mode is switched after the commit, as SQLite cannot change it within a transaction
      // ("PRAGMA journal_mode").
      try connection.execute("COMMIT")
      try connection.execute("PRAGMA journal_mode=WAL")
    } catch {
      throw Self.storeError(error, at: path)
    }
  }

  /// Writes a body to a file if it is large enough.
  private func place(
    _ body: Body, using generator: inout some RandomNumberGenerator
  ) throws(FileError) -> Body {
    guard case .bytes(let bytes) = body, bytes.count >= fileThreshold else { return body }
    let name = Self.uuid(generator.next(), generator.next())
    let file = try OpenFile(creating: "\(bodyFolder)/\(String(decoding: name, as: UTF8.self))")
    try file.write(bytes)
    if isDurable { try file.synchronize() }
    return .file(ByteString(name))
  }

  private mutating func insertResponse(_ row: Row, as id: Int64) throws(SQLiteError) {
    // CFNetwork writes two forms of the hash, and nothing reads either of them. A store that is to
    // pass for a real one in comparisons needs the right form nevertheless.
    let hash = CacheKeyHash(of: row.key)
    responses.reset()
    try responses.bind(integer: id, at: 1)
    try responses.bind(integer: row.wasUpdated ? hash.whenUpdated : hash.whenInserted, at: 2)
    try responses.bind(integer: row.storagePolicy, at: 3)
    try responses.bind(text: row.key.bytes, at: 4)
    try responses.bind(text: Self.text(of: row.firstStored), at: 5)
    if let partition = row.partition {
      try responses.bind(text: partition.bytes, at: 6)
    } else {
      try responses.bindNull(at: 6)
    }
    _ = try responses.step()
  }

  private mutating func insertBlobs(of row: Row, as id: Int64) throws(SQLiteError) {
    blobs.reset()
    try blobs.bind(integer: id, at: 1)
    try blobs.bind(blob: row.response, at: 2)
    try blobs.bind(blob: row.request, at: 3)
    if let properties = row.protocolProperties {
      try blobs.bind(blob: properties, at: 4)
    } else {
      try blobs.bindNull(at: 4)
    }
    // `user_info` was NULL in all of 8,148 responses of real caches.
    try blobs.bindNull(at: 5)
    _ = try blobs.step()
  }

  private mutating func insert(_ body: Body, as id: Int64) throws(SQLiteError) {
    bodies.reset()
    try bodies.bind(integer: id, at: 1)
    switch body {
    case .bytes(let bytes):
      try bodies.bind(integer: 0, at: 2)
      try bodies.bind(blob: bytes, at: 3)
    case .file(let name):
      try bodies.bind(integer: 1, at: 2)
      try bodies.bind(text: name.bytes, at: 3)
    }
    _ = try bodies.step()
  }

  /// Creates the tables, begins the transaction and, unless in bulk, creates the indexes.
  private static func createDatabase(
    _ path: String, _ schema: AppleSchema, isDurable: Bool, isBulk: Bool
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(path: path, access: .create)
    // `auto_vacuum` cannot be turned on later without a VACUUM, as it needs its map pages from the
    // first table on.
    for pragma in AppleSchema.pragmasBeforeCreation { try connection.execute(pragma) }
    try connection.execute("PRAGMA synchronous=\(isDurable ? "FULL" : "OFF")")
    // In KiB: the indexes on random keys of a large store do not fit into the default page cache. In bulk, SQLite
    // sorts the keys in as much memory again.
    try connection.execute("PRAGMA cache_size=-\(isBulk ? 65_536 : 131_072)")
    // One transaction for all rows: each commit waits for the disk several times.
    try connection.execute("BEGIN IMMEDIATE")
    for statement in isBulk ? schema.bulkCreation : schema.creationStatements {
      try connection.execute(statement)
    }
    try connection.execute(schema.versionStatement)
    return connection
  }

  private static func createFolder(_ path: String) throws(FileError) {
    do {
      try Directory.create(path)
    } catch {
      // The folder may exist already. If something else does, creating a file in it fails.
      guard error.kind == .exists else { throw error }
    }
  }

  private static func translatingErrors<Result: ~Copyable>(
    at path: String, _ body: () throws -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body()
    } catch {
      throw storeError(error, at: path)
    }
  }

  private static func storeError(_ error: any Error, at path: String) -> StoreError {
    switch error {
    // This is a mistake of the caller and not of the store: an existing cache is never overwritten.
    case let error as FileError where error.kind == .exists:
      StoreError(.inputOutput, at: error.path, because: "the file already exists")
    case let error as FileError where [.accessDenied, .noRoom].contains(error.kind):
      StoreError(error, path: error.path)
    case let error as FileError:
      StoreError(.inputOutput, at: error.path, because: error.reason)
    case let error as SQLiteError where error.kind == .noRoom: StoreError(error, path: path)
    default:
      StoreError(.inputOutput, at: path, because: "\(error)")
    }
  }
}

extension AppleStoreWriter {
  /// Returns a random UUID (RFC 9562 §5.4) in capitals, which is how CFNetwork names body files.
  public static func uuid(_ high: UInt64, _ low: UInt64) -> [UInt8] {
    // Version 4 and variant 10 mark a random UUID.
    let high = high & ~0xF000 | 0x4000
    let low = low & ~(0b11 << 62) | 0b10 << 62
    let bytes = [high, low].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
    return Base16.uuid(bytes, .capital)
  }

  /// Returns a time in the format of SQLite's `CURRENT_TIMESTAMP`: UTC, whole seconds.
  static func text(of moment: Timestamp) -> [UInt8] {
    var text: [UInt8] = []
    text.append(CivilTime(moment), separator: UInt8(ascii: " "))
    return text
  }
}
