public import Administration
import Files
public import Rendering
public import ResponseStorage
import SQLite

/// An ordinary SQLite database with the tables of a query, for other programs.
///
/// It is made in a temporary folder, since SQLite needs a file, and is then copied to where it is wanted.
public struct EntryDatabase: EntryRowTarget, ~Copyable {
  private let folder: TemporaryDirectory
  private let connection: Connection
  private var tables: EntryTables

  /// Creates empty tables.
  ///
  /// - Throws: ``QueryError``
  public init(reader: ColumnReader, check: EntryCheck) throws(QueryError) {
    let folder = try Self.makeFolder()
    let connection = try QueryError.translating { () throws(SQLiteError) in
      try Connection(path: Self.path(in: folder), access: .create)
    }
    let tables = try QueryError.translating { () throws(SQLiteError) in
      try connection.fillQuickly()
      for table in EntryTable.allCases { try connection.execute(table.creation) }
      try connection.execute("BEGIN")
      return try EntryTables(
        in: connection, read: EntryTable.allColumns, reader: reader, check: check)
    }
    self.folder = folder
    self.connection = connection
    self.tables = tables
  }

  /// The parts of a response to decode.
  public var projection: Projection { tables.emptyRows.projection }

  /// No rows, to be filled with those of entries.
  public var emptyRows: EntryRows { tables.emptyRows }

  /// Adds rows, and removes them from `rows`.
  public mutating func insert(_ rows: inout EntryRows) throws(QueryError) {
    try QueryError.translating { () throws(SQLiteError) in try tables.insert(&rows) }
  }

  /// Adds the rows of an entry.
  public mutating func insert(_ response: borrowing StoredResponse) throws(QueryError) {
    try QueryError.translating { () throws(SQLiteError) in try tables.insert(response) }
  }

  /// Completes the database, and passes its bytes to `write`.
  public mutating func write(to write: ([UInt8]) throws -> Void) throws {
    try QueryError.translating { () throws(SQLiteError) in
      try connection.execute("COMMIT")
      // Tables are joined by the id. Made at the end, an index is sorted once.
      for table in EntryTable.allCases {
        let name = table.rawValue
        try connection.execute("CREATE INDEX \(name)_id ON \(name)(id)")
      }
    }
    // Without a journal, SQLite has written everything to the file when a statement ends.
    let file = try OpenFile(reading: Self.path(in: folder))
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = try file.read(into: &buffer), count > 0 {
      try write(Array(buffer[..<count]))
    }
  }

  private static func makeFolder() throws(QueryError) -> TemporaryDirectory {
    do throws(FileError) { return try TemporaryDirectory(in: TemporaryFile.folder) } catch {
      throw error.kind == .noRoom ? .noRoom : .failed("\(error)")
    }
  }

  private static func path(in folder: borrowing TemporaryDirectory) -> String {
    "\(folder.path)/entries.sqlite"
  }
}
