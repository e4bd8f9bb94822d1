import Bytes
import Files
import SQLite

/// The indexes of an empty store, which are created after its rows are inserted.
///
/// Keys arrive in random order, so each row changes a page somewhere in each index; with a million rows, most of these pages
/// are not in the page cache. SQLite creates an index on existing rows by sorting their keys.
struct DeferredIndexes {
  private let areDropped: Bool

  /// Drops the indexes in the transaction that inserts the first rows.
  ///
  /// They are kept if the store has rows, or if its tables and indexes are not all CFNetwork's, byte for byte: the index
  /// of its UNIQUE constraint, which cannot be dropped, has to find the keys meanwhile.
  init(droppingFrom connection: borrowing Connection) throws(SQLiteError) {
    areDropped = try Self.canBeDropped(from: connection)
    guard areDropped else { return }
    for index in AppleSchema.indexes { try connection.execute("DROP INDEX \(index.name)") }
  }

  private static func canBeDropped(from connection: borrowing Connection) throws(SQLiteError)
    -> Bool
  {
    for table in [AppleLayout.responses, AppleLayout.blobs, AppleLayout.bodies] {
      var rows = try connection.prepare("SELECT 1 FROM \(table) NOT INDEXED LIMIT 1")
      if try rows.step() { return false }
    }
    for statement in AppleSchema.tablesAndIndexes {
      var rows = try connection.prepare("SELECT 1 FROM sqlite_master WHERE sql = ?1")
      try rows.bind(text: Array(statement.utf8), at: 1)
      guard try rows.step() else { return false }
    }
    return true
  }

  /// Creates the indexes, in CFNetwork's order.
  ///
  /// - Parameter folder: The folder of the store.
  /// - Throws: ``StoreError`` if there is no room, or else ``SQLiteError``.
  func create(in connection: borrowing Connection, folder: String) throws {
    guard areDropped else { return }
    // In KiB. It is also how much SQLite sorts at a time. With 8 MiB, a small import would take that much more memory; with
    // 2 MiB, one of keys of a megabyte takes 20 MiB more, as a key or two of each of up to 16 parts are merged.
    try connection.execute("PRAGMA cache_size = -4096")
    do throws(SQLiteError) {
      for index in AppleSchema.indexes { try connection.execute(index.creation) }
    } catch {
      guard error.kind == .noRoom else { throw error }
      throw StoreError(.noRoom, at: Self.fullFolder(folder))
    }
  }

  /// Returns which one is fuller: the folder of the store, or that in which SQLite sorts.
  private static func fullFolder(_ folder: String) -> String {
    let sorting = Scratch.folder
    func room(_ folder: String) -> ByteCount? { try? FileSystemStatus.of(folder).availableBytes }
    guard let left = room(folder), let other = room(sorting) else { return folder }
    return other < left ? sorting : folder
  }
}

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
