import Bytes
import SQLite

/// The tables and columns of a database that matter to this tool.
///
/// The schema may be hostile: the tables may be views, virtual tables or have generated columns, all of
/// which run code of their author. Such databases are refused.
struct AppleLayout {
  /// The version recorded in the database, if any.
  let schemaVersion: Int64?
  /// Whether responses have the hash of their key, as in all versions of CFNetwork.
  let hasHashValue: Bool
  /// Whether responses have a partition (schema 13 and later).
  let hasPartition: Bool
  /// The table with the bodies; up to schema 8, they are in the table of property lists.
  let bodyTable: String
  /// Whether a body can be in a file (schema 25 and later).
  let hasBodyFiles: Bool
  /// The number of triggers; CFNetwork creates none.
  let triggerCount: Int
  /// Notes about the database, for display.
  var notes: [String] {
    triggerCount == 0 ? [] : ["the database has triggers, which CFNetwork never creates"]
  }

  /// Why the database can be read but not changed, as a clause; `nil` if it can be changed.
  var readOnlyReason: String? {
    // All schemas from 25 to 203 have the same columns; earlier ones have fewer.
    // The columns decide what is read, and the version only what is changed: a version of CFNetwork
    // that we do not know may keep other things in the same columns.
    guard let schemaVersion, 25...203 ~= schemaVersion, hasBodyFiles else {
      let name = schemaVersion.map { "schema \($0)" } ?? "a schema without a version"
      return "it has \(name), but only schemas 25 to 203 can be changed"
    }
    guard triggerCount == 0 else {
      return "it has triggers, which CFNetwork never creates"
    }
    return nil
  }

  static let responses = "cfurl_cache_response"
  static let blobs = "cfurl_cache_blob_data"
  static let bodies = "cfurl_cache_receiver_data"
  static let version = "cfurl_cache_schema_version"

  /// Reads the layout of a database.
  ///
  /// - Parameter path: The path of the store, for errors.
  /// - Throws: ``StoreError`` if the database is not a cache, or ``SQLiteError``.
  init(of connection: borrowing Connection, path: String) throws {
    // The encoding comes first: values are read as they are stored, so all names below would be
    // UTF-16.
    try Self.refuseOtherEncodings(connection, path)
    var tables: Set<String> = []
    var refused: String?
    var triggers = 0
    // SQLite ignores the case of names, so compare them in lower case.
    // A recursive view with the name of a table hangs a SELECT for ever, and a generated column
    // made the sqlite3 shell take 1.9 GB.
    var rows = try connection.prepare(
      """
      SELECT lower(name), type = 'table' AND rootpage > 0 AND sql NOT LIKE 'CREATE VIRTUAL%', type
      FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')
      """)
    while try rows.step() {
      let name = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      let type = String(decoding: rows.bytes(at: 2), as: UTF8.self)
      // Any trigger counts, whatever its table and its statement. CFNetwork makes none, so refusing
      // them loses nothing, and judging what a hostile one does would need a parser of SQL.
      if type == "trigger" { triggers += 1 }
      guard [Self.responses, Self.blobs, Self.bodies, Self.version].contains(name) else { continue }
      if rows.integer(at: 1) == 1 {
        tables.insert(name)
      } else {
        // A view or virtual table with the name of a table could run any code when it is read.
        refused = "'\(name)' is a \(type == "table" ? "virtual table" : type), not a table"
      }
    }
    if let refused { throw StoreError(.notACache, at: path, because: refused) }
    // Only the tables identify a cache. Another component of Apple's also calls its database
    // `Cache.db`, and a killed process can leave one that has a version table and nothing else.
    guard tables.contains(Self.responses), tables.contains(Self.blobs) else {
      let reason =
        tables.isEmpty
        ? "the database has no table '\(Self.responses)'"
        : "the database is incomplete: it has no table '\(Self.responses)'"
      throw StoreError(.notACache, at: path, because: reason)
    }
    let responses = try Self.columns(of: Self.responses, connection, path)
    let blobs = try Self.columns(of: Self.blobs, connection, path)
    let bodies =
      tables.contains(Self.bodies) ? try Self.columns(of: Self.bodies, connection, path) : nil
    for (table, columns, needed) in [
      (Self.responses, responses, ["entry_id", "request_key", "time_stamp", "storage_policy"]),
      (
        Self.blobs, blobs,
        ["entry_id", "response_object", "request_object", "proto_props", "user_info"]
      ),
      (bodies == nil ? Self.blobs : Self.bodies, bodies ?? blobs, ["entry_id", "receiver_data"]),
    ] {
      for column in needed where !columns.contains(column) {
        throw StoreError(
          .notACache, at: path, because: "the table '\(table)' has no column '\(column)'")
      }
    }
    hasHashValue = responses.contains("hash_value")
    hasPartition = responses.contains("partition")
    bodyTable = bodies == nil ? Self.blobs : Self.bodies
    hasBodyFiles = bodies?.contains("isdataonfs") ?? false
    schemaVersion = try Self.schemaVersion(connection, hasTable: tables.contains(Self.version))
    triggerCount = triggers
  }

  /// Throws an error for a cache with UTF-16 text: SQLite would convert it, but keys are compared and kept as bytes.
  ///
  /// - Throws: ``StoreError`` only if the database is a cache; other databases in UTF-16 are refused by their tables.
  private static func refuseOtherEncodings(
    _ connection: borrowing Connection, _ path: String
  ) throws {
    var row = try connection.prepare("PRAGMA encoding")
    guard try row.step() else { return }
    // SQLite returns the name in that encoding, so UTF-16 has zero bytes between the letters.
    let name = String(decoding: row.bytes(at: 0).filter { $0 != 0 }, as: UTF8.self)
    guard name != "UTF-8" else { return }
    var tables = try connection.prepare(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = '\(responses)'")
    guard try tables.step() else { return }
    throw StoreError(
      .unreadable, at: path, because: "its text is \(name), but CFNetwork writes only UTF-8")
  }

  private static func schemaVersion(
    _ connection: borrowing Connection, hasTable: Bool
  ) throws(SQLiteError) -> Int64? {
    var row = try connection.prepare("PRAGMA user_version")
    // Schema 203 uses `user_version`, which is 0 in older schemas; those have a table instead.
    if try row.step(), row.integer(at: 0) != 0 { return row.integer(at: 0) }
    guard hasTable else { return nil }
    // A half-created cache has the table and no row in it.
    var version = try connection.prepare("SELECT * FROM \(Self.version) NOT INDEXED LIMIT 1")
    guard try version.step(), version.type(at: 0) == .integer else { return nil }
    return version.integer(at: 0)
  }

  /// Returns the names of the columns of a table, in lower case.
  private static func columns(
    of table: String, _ connection: borrowing Connection, _ path: String
  ) throws -> Set<String> {
    var names: Set<String> = []
    var keys: [String] = []
    var rows = try connection.prepare(
      // `table_xinfo` also lists generated columns, which `table_info` hides.
      "SELECT lower(name), hidden, pk, upper(type) = 'INTEGER' FROM pragma_table_xinfo('\(table)')")
    while try rows.step() {
      let name = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      guard rows.integer(at: 1) == 0 else {
        throw StoreError(
          .notACache, at: path, because: "the table '\(table)' has generated columns")
      }
      if rows.integer(at: 2) > 0 { keys.append(rows.integer(at: 3) == 1 ? name : "") }
      names.insert(name)
    }
    // A scan relies on this: only then is `entry_ID` the rowid of the table.
    // In a table WITHOUT ROWID, the second statement fails.
    guard keys == ["entry_id"], (try? connection.prepare("SELECT rowid FROM \(table)")) != nil
    else {
      throw StoreError(
        .notACache, at: path,
        because: "'entry_ID' is not the integer primary key of the table '\(table)'")
    }
    return names
  }
}

/// The schemas with which new Apple stores can be created.
///
/// Source: `apple-cache.md`, "Schemas", the text of `sqlite_master` in 313 databases.
public enum AppleSchema: Int64, Hashable, Sendable, CaseIterable {
  /// macOS 10.13 to 10.15: the version is the row of a table.
  case version202 = 202

  /// macOS 11 and iOS 15 onwards: the version is the `user_version` of the database.
  case version203 = 203
}

extension AppleSchema {
  /// The settings that must precede the first table.
  // 4096 bytes and incremental vacuum are what all real caches from schema 25 on have.
  static let pragmasBeforeCreation = ["PRAGMA page_size=4096", "PRAGMA auto_vacuum=2"]

  /// The statements that create the tables and indexes, in CFNetwork's order.
  ///
  /// SQLite stores their text, so it equals Apple's byte for byte, including tabs and double spaces.
  var creationStatements: [String] {
    switch self {
    case .version202: [Self.versionTable] + Self.tablesAndIndexes
    case .version203: Self.tablesAndIndexes
    }
  }

  /// The statement that sets the version of the database, which must come last.
  var versionStatement: String {
    switch self {
    case .version202:
      "INSERT INTO cfurl_cache_schema_version(schema_version) VALUES (\(rawValue))"
    case .version203:
      "PRAGMA user_version=\(rawValue)"
    }
  }

  /// Returns the statement that inserts a response. Its parameters are in the order of the columns.
  static func responseInsertion(into table: String) -> String {
    "INSERT INTO \(table)(entry_ID, version, hash_value, storage_policy, request_key, time_stamp, "
      + "partition) VALUES (?, 0, ?, ?, ?, ?, ?)"
  }
  /// The columns of a response except its id, in the order of the parameters of
  /// ``rawResponseInsertion``.
  // Only these columns are written. A column that an archive has and the target does not would
  // otherwise become part of the SQL.
  static let rawResponseColumns = [
    "version", "hash_value", "storage_policy", "request_key", "time_stamp", "partition",
  ]
  static let rawResponseInsertion =
    "INSERT INTO cfurl_cache_response(entry_ID, \(rawResponseColumns.joined(separator: ", "))) "
    + "VALUES (?, ?, ?, ?, ?, ?, ?)"
  static let blobInsertion =
    "INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object, proto_props, "
    + "user_info) VALUES (?, ?, ?, ?, ?)"
  static let bodyInsertion =
    "INSERT INTO cfurl_cache_receiver_data(entry_ID, isDataOnFS, receiver_data) VALUES (?, ?, ?)"

  private static let versionTable =
    "CREATE TABLE cfurl_cache_schema_version(schema_version INTEGER)"

  static let tablesAndIndexes = tables + indexes.map(\.creation)

  private static let tables = [
    "CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY AUTOINCREMENT UNIQUE, \t "
      + "version INTEGER, hash_value INTEGER, storage_policy INTEGER, request_key TEXT UNIQUE, \t "
      + "time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)",
    "CREATE TABLE cfurl_cache_blob_data(entry_ID INTEGER PRIMARY KEY, response_object BLOB, "
      + "request_object BLOB, \t\t\t  proto_props BLOB, user_info BLOB)",
    "CREATE TABLE cfurl_cache_receiver_data(entry_ID INTEGER PRIMARY KEY, isDataOnFS INTEGER, "
      + "receiver_data BLOB)",
  ]

  /// The indexes, which come after the tables, with the names that follow from the statements that create them.
  static let indexes: [(name: String, creation: String)] = [
    ("request_key_index", "\(AppleLayout.responses)(request_key)"),
    ("time_stamp_index", "\(AppleLayout.responses)(time_stamp)"),
    // The last two indexes cover what is the key of their table anyway, so no query uses them. They
    // are created because a store without them would not be one of CFNetwork's.
    ("proto_props_index", "\(AppleLayout.blobs)(entry_ID)"),
    ("receiver_data_index", "\(AppleLayout.bodies)(entry_ID)"),
  ].map { ($0, "CREATE INDEX \($0) ON \($1)") }
}

extension Timestamp {
  /// Creates a moment from `YYYY-MM-DD HH:MM:SS` in UTC, which is how SQLite writes
  /// `CURRENT_TIMESTAMP`; `nil` for anything else.
  init?(databaseText text: Span<UInt8>) {
    guard let time = CivilTime(text, separator: UInt8(ascii: " ")) else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970))
  }
}
