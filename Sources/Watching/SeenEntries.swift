import Bytes
import Files
import ResponseStorage
import SQLite

/// The entries of the last look, in a temporary database: memory does not grow with their number.
final class SeenEntries {
  private let database: TemporaryDatabase
  private var isIndexed = false

  /// The number of entries.
  private(set) var count: Int64 = 0

  /// - Parameter temporaryFolder: The folder for the unnamed file of the database.
  init(temporaryFolder: String) throws(FileError) {
    // An id is a number, or the name of a file.
    database = try TemporaryDatabase(
      in: temporaryFolder,
      creating: [
        """
        CREATE TABLE seen(
          id PRIMARY KEY, key INTEGER, version INTEGER, url BLOB, size INTEGER, isSelected INTEGER
        ) WITHOUT ROWID
        """
      ])
  }

  /// The highest id; `nil` if there are no entries.
  var highestID: StoredResponse.ID? {
    get throws(FileError) {
      try database.perform { connection throws(SQLiteError) in
        var statement = try connection.prepare("SELECT max(id) FROM seen")
        guard try statement.step(), statement.type(at: 0) != .null else { return nil }
        return statement.id(at: 0)
      }
    }
  }

  /// Removes entries, and then adds others.
  func replace(
    _ removed: [StoredResponse.ID], with added: [SeenEntry]
  ) throws(FileError) {
    try database.perform { connection throws(SQLiteError) in
      var removal = try connection.prepare("DELETE FROM seen WHERE id = ? RETURNING 1")
      for id in removed {
        try removal.bind(id, at: 1)
        if try removal.step() { count -= 1 }
        removal.reset()
      }
      var insertion = try connection.prepare("INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?, ?, ?)")
      for entry in added {
        try insertion.bind(entry)
        _ = try insertion.step()
        insertion.reset()
      }
    }
    count += Int64(added.count)
  }

  /// Returns the entries with a key, in the order of their ids.
  func entries(withKey key: Int) throws(FileError) -> [SeenEntry] {
    let isIndexed = isIndexed
    // Only now: a watch that finds no new ids never needs it.
    self.isIndexed = true
    return try database.perform { connection throws(SQLiteError) in
      if !isIndexed { try connection.execute("CREATE INDEX keys ON seen(key)") }
      var statement = try connection.prepare("SELECT * FROM seen WHERE key = ? ORDER BY id")
      try statement.bind(integer: Int64(key), at: 1)
      var entries: [SeenEntry] = []
      while try statement.step() { entries.append(SeenEntry(statement)) }
      return entries
    }
  }

  /// Returns a reader of all entries, in the order of their ids. Nothing may be changed while it is in use.
  func makeReader() throws(FileError) -> Reader {
    let statement = try database.perform { connection throws(SQLiteError) in
      try connection.prepare("SELECT * FROM seen ORDER BY id")
    }
    return Reader(entries: self, statement: statement)
  }

  /// Reads entries.
  struct Reader: ~Copyable {
    fileprivate let entries: SeenEntries
    fileprivate var statement: Statement

    /// Returns the next entry; `nil` at the end.
    mutating func next() throws(FileError) -> SeenEntry? {
      try entries.database.perform { _ throws(SQLiteError) in
        try statement.step() ? SeenEntry(statement) : nil
      }
    }
  }
}

extension SeenEntry {
  /// Creates the entry in the current row.
  fileprivate init(_ statement: borrowing Statement) {
    self.init(
      id: statement.id(at: 0),
      key: statement.type(at: 1) == .null ? nil : Int(statement.integer(at: 1)),
      version: Int(statement.integer(at: 2)))
    url = statement.type(at: 3) == .null ? nil : ByteString(statement.bytes(at: 3))
    size = statement.type(at: 4) == .null ? nil : ByteCount(statement.integer(at: 4))
    isSelected = statement.integer(at: 5) == 1
    isRead = true
  }
}

extension Statement {
  fileprivate func id(at column: Int32) -> StoredResponse.ID {
    type(at: column) == .integer
      ? .row(integer(at: column)) : .file(ByteString(bytes(at: column)))
  }

  fileprivate mutating func bind(_ id: StoredResponse.ID, at parameter: Int32) throws(SQLiteError) {
    switch id {
    case .row(let row): try bind(integer: row, at: parameter)
    case .file(let name): try bind(blob: name.bytes, at: parameter)
    }
  }

  fileprivate mutating func bind(_ entry: SeenEntry) throws(SQLiteError) {
    try bind(entry.id, at: 1)
    try bind(integer: entry.key.map { Int64($0) }, at: 2)
    try bind(integer: Int64(entry.version), at: 3)
    if let url = entry.url { try bind(blob: url.bytes, at: 4) } else { try bindNull(at: 4) }
    try bind(integer: entry.size?.bytes, at: 5)
    try bind(integer: entry.isSelected ? 1 : 0, at: 6)
  }

  private mutating func bind(integer: Int64?, at parameter: Int32) throws(SQLiteError) {
    if let integer {
      try bind(integer: integer, at: parameter)
    } else {
      try bindNull(at: parameter)
    }
  }
}
