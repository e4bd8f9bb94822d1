import SQLite

/// What tables and columns a database has, as far as they matter here.
///
/// A schema comes from outside: under the tables' names there may be views, virtual tables or
/// generated columns, which run whatever their author likes. Those are refused.
struct AppleLayout {
  /// The version that the database names, if any.
  let schemaVersion: Int64?
  /// Whether responses have the hash of their key, as all of CFNetwork's have.
  let hasHashValue: Bool
  /// Whether responses have a partition (schema 13 and later).
  let hasPartition: Bool
  /// The table that bodies are in: until schema 8 there was none of their own.
  let bodyTable: String
  /// Whether a body can be in a file (schema 25 and later).
  let hasBodyFiles: Bool
  /// The number of triggers, of which CFNetwork makes none.
  let triggerCount: Int
  /// What is odd about the database, for people.
  var notes: [String] {
    triggerCount == 0 ? [] : ["the database has triggers, which CFNetwork never makes"]
  }

  /// Why the database is read and never changed, as a clause; `nil` if it can be changed.
  var obstacle: String? {
    guard let schemaVersion, 25...203 ~= schemaVersion, hasBodyFiles else {
      let name = schemaVersion.map { "schema \($0)" } ?? "a schema without a version"
      return "it has \(name), and only 25 to 203 are changed"
    }
    guard triggerCount == 0 else {
      return "it has triggers, which CFNetwork never makes, and is not changed"
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
  /// - Throws: ``StoreError`` if it is not that of a cache, or ``SQLiteError``.
  init(of connection: borrowing Connection, path: String) throws {
    try Self.refuseOtherEncodings(connection, path)
    var tables: Set<String> = []
    var refused: String?
    var triggers = 0
    var rows = try connection.prepare(
      """
      SELECT lower(name), type = 'table' AND rootpage > 0 AND sql NOT LIKE 'CREATE VIRTUAL%', type
      FROM sqlite_master WHERE type IN ('table', 'view', 'trigger')
      """)
    while try rows.step() {
      let name = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      let type = String(decoding: rows.bytes(at: 2), as: UTF8.self)
      if type == "trigger" { triggers += 1 }
      guard [Self.responses, Self.blobs, Self.bodies, Self.version].contains(name) else { continue }
      if rows.integer(at: 1) == 1 {
        tables.insert(name)
      } else {
        refused = "'\(name)' is a \(type == "table" ? "virtual table" : type), not a table"
      }
    }
    if let refused { throw StoreError(.notACache, at: path, because: refused) }
    guard tables.contains(Self.responses), tables.contains(Self.blobs) else {
      let reason =
        tables.isEmpty
        ? "the database has no table '\(Self.responses)'"
        : "the database is half-created: it has no table '\(Self.responses)'"
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

  /// Refuses a cache whose text is UTF-16: SQLite would convert it, but keys are compared and kept as bytes.
  ///
  /// - Throws: ``StoreError`` for a cache only: what else is in UTF-16 is none, which the tables tell.
  private static func refuseOtherEncodings(
    _ connection: borrowing Connection, _ path: String
  ) throws {
    var row = try connection.prepare("PRAGMA encoding")
    guard try row.step() else { return }
    // The name of the encoding is in that encoding.
    let name = String(decoding: row.bytes(at: 0).filter { $0 != 0 }, as: UTF8.self)
    guard name != "UTF-8" else { return }
    var tables = try connection.prepare(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = '\(responses)'")
    guard try tables.step() else { return }
    throw StoreError(
      .unreadable, at: path, because: "its text is \(name), and CFNetwork writes UTF-8 only")
  }

  private static func schemaVersion(
    _ connection: borrowing Connection, hasTable: Bool
  ) throws(SQLiteError) -> Int64? {
    var row = try connection.prepare("PRAGMA user_version")
    if try row.step(), row.integer(at: 0) != 0 { return row.integer(at: 0) }
    guard hasTable else { return nil }
    var version = try connection.prepare("SELECT * FROM \(Self.version) NOT INDEXED LIMIT 1")
    guard try version.step(), version.type(at: 0) == .integer else { return nil }
    return version.integer(at: 0)
  }

  /// The names of the columns of a table, in small letters.
  private static func columns(
    of table: String, _ connection: borrowing Connection, _ path: String
  ) throws -> Set<String> {
    var names: Set<String> = []
    var keys: [String] = []
    var rows = try connection.prepare(
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
    // Only so is the number of a response that of its row, which a scan goes by.
    guard keys == ["entry_id"], (try? connection.prepare("SELECT rowid FROM \(table)")) != nil
    else {
      throw StoreError(
        .notACache, at: path, because: "'entry_ID' is not the integer key of the table '\(table)'")
    }
    return names
  }
}
