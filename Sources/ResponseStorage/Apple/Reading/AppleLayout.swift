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
