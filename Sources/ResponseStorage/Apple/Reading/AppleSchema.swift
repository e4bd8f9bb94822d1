import Bytes

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
