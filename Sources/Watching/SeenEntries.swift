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

  init() throws(FileError) {
    // An id is a number, or the name of a file.
    database = try TemporaryDatabase(
      tables: [
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
      var statement = try database.prepare("SELECT max(id) FROM seen")
      guard try database.step(&statement), statement.type(at: 0) != .null else { return nil }
      return statement.responseID(at: 0)
    }
  }

  /// Removes entries, and then adds others.
  func replace(
    _ removed: [StoredResponse.ID], with added: [SeenEntry]
  ) throws(FileError) {
    var removal = try database.prepare("DELETE FROM seen WHERE id = ? RETURNING 1")
    for id in removed {
      try database.restart(&removal)
      try database.bind(to: &removal) { statement throws(SQLiteError) in
        try statement.bind(id, at: 1)
      }
      if try database.step(&removal) { count -= 1 }
    }
    var insertion = try database.prepare("INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?, ?, ?)")
    for entry in added {
      try database.restart(&insertion)
      try database.bind(to: &insertion) { statement throws(SQLiteError) in
        try statement.bind(entry)
      }
      _ = try database.step(&insertion)
    }
    count += Int64(added.count)
  }

  /// Returns the entries with a key, in the order of their ids.
  func entries(withKey key: Int) throws(FileError) -> [SeenEntry] {
    // Only now: a watch that finds no new ids never needs it.
    if !isIndexed { try database.execute("CREATE INDEX keys ON seen(key)") }
    isIndexed = true
    var statement = try database.prepare("SELECT * FROM seen WHERE key = ? ORDER BY id")
    try database.restart(&statement, Int64(key))
    var entries: [SeenEntry] = []
    while try database.step(&statement) { entries.append(SeenEntry(statement)) }
    return entries
  }

  /// Returns a reader of all entries, in the order of their ids. Nothing may be changed while it is in use.
  func makeReader() throws(FileError) -> Reader {
    Reader(entries: self, statement: try database.prepare("SELECT * FROM seen ORDER BY id"))
  }

  /// Reads entries.
  struct Reader: ~Copyable {
    fileprivate let entries: SeenEntries
    fileprivate var statement: Statement

    /// Returns the next entry; `nil` at the end.
    mutating func next() throws(FileError) -> SeenEntry? {
      try entries.database.step(&statement) ? SeenEntry(statement) : nil
    }
  }
}

extension SeenEntry {
  /// Creates the entry in the current row.
  fileprivate init(_ statement: borrowing Statement) {
    self.init(
      id: statement.responseID(at: 0),
      key: statement.type(at: 1) == .null ? nil : Int(statement.integer(at: 1)),
      version: Int(statement.integer(at: 2)))
    url = statement.type(at: 3) == .null ? nil : ByteString(statement.bytes(at: 3))
    size = statement.type(at: 4) == .null ? nil : ByteCount(statement.integer(at: 4))
    isSelected = statement.integer(at: 5) == 1
    isRead = true
  }
}

extension Statement {
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
