/// The statements that create a store in bulk: rows first, indexes last.
///
/// Keys are random, so an index that is updated row by row and is larger than the page cache costs a read and a write
/// of a page for each row. SQLite creates an index on existing rows by sorting them.
extension AppleSchema {
  /// The statements that create the tables, and a temporary table for the rows of the response table.
  var bulkCreation: [String] {
    creationStatements.dropLast(Self.indexes.count) + [
      "CREATE TEMP TABLE \(Self.stagingTable)(entry_ID INTEGER PRIMARY KEY, version INTEGER, "
        + "hash_value INTEGER, storage_policy INTEGER, request_key TEXT, "
        + "time_stamp NOT NULL DEFAULT CURRENT_TIMESTAMP, partition TEXT)"
    ]
  }

  /// The temporary table.
  static let stagingTable = "staged_response"

  /// The statements that fill the response table and create the indexes.
  // The index of a UNIQUE constraint exists from the beginning, and gets its keys row by row. Filling this table last
  // leaves the page cache to it and to that index.
  var bulkCompletion: [String] {
    [
      "INSERT INTO cfurl_cache_response SELECT * FROM \(Self.stagingTable)",
      "DROP TABLE \(Self.stagingTable)",
    ] + Self.indexes.map(\.creation)
  }
}
