import Files
import SQLite

/// A temporary database of what a search has found: there can be more of it than fits into memory.
struct RecoveryDatabase: ~Copyable {
  private let connection: Connection

  /// Creates a database.
  ///
  /// - Parameter tables: The statements that create its tables.
  init(tables: [String]) throws(FileError) {
    do throws(SQLiteError) { connection = try Self.connection(with: tables) } catch {
      throw FileError(error)
    }
  }

  private static func connection(with tables: [String]) throws(SQLiteError) -> Connection {
    let connection = try Connection.temporary()
    for table in tables { try connection.execute(table) }
    // One transaction for all of it: with several, each would write its pages to the file.
    try connection.execute("BEGIN")
    return connection
  }

  func execute(_ sql: String) throws(FileError) {
    do throws(SQLiteError) { try connection.execute(sql) } catch {
      throw FileError(error)
    }
  }

  /// Writes everything to the file, so that reading it later needs no more room.
  func complete() throws(FileError) { try execute("COMMIT") }

  func prepare(_ sql: String) throws(FileError) -> Statement {
    do throws(SQLiteError) { return try connection.prepare(sql) } catch {
      throw FileError(error)
    }
  }

  /// Moves a statement to its next row.
  func step(_ statement: inout Statement) throws(FileError) -> Bool {
    do throws(SQLiteError) { return try statement.step() } catch {
      throw FileError(error)
    }
  }

  /// Begins a statement again, with other integers as its first parameters.
  func restart(_ statement: inout Statement, _ integers: Int64...) throws(FileError) {
    statement.reset()
    do throws(SQLiteError) {
      for (index, integer) in integers.enumerated() {
        try statement.bind(integer: integer, at: Int32(index + 1))
      }
    } catch {
      throw FileError(error)
    }
  }

  /// Sets a parameter of a statement.
  func bind(_ bytes: [UInt8], to statement: inout Statement, at parameter: Int32) throws(FileError)
  {
    do throws(SQLiteError) { try statement.bind(blob: bytes, at: parameter) } catch {
      throw FileError(error)
    }
  }

  func bind(_ real: Double, to statement: inout Statement, at parameter: Int32) throws(FileError) {
    do throws(SQLiteError) { try statement.bind(real: real, at: parameter) } catch {
      throw FileError(error)
    }
  }

  func bind(
    text: String, to statement: inout Statement, at parameter: Int32
  ) throws(FileError) {
    do throws(SQLiteError) { try statement.bind(text: Array(text.utf8), at: parameter) } catch {
      throw FileError(error)
    }
  }

  func bindNull(to statement: inout Statement, at parameter: Int32) throws(FileError) {
    do throws(SQLiteError) { try statement.bindNull(at: parameter) } catch {
      throw FileError(error)
    }
  }

  /// Reads packed values in a column of the current row.
  func unpack<Result>(
    _ statement: borrowing Statement, at column: Int32,
    _ body: (inout PackedReader) throws(PackedReader.Failure) -> Result
  ) throws(FileError) -> Result {
    var reader = PackedReader(statement.bytes(at: column))
    do throws(PackedReader.Failure) { return try body(&reader) } catch {
      throw FileError.incomplete(at: AppleStore.sqliteFolder)
    }
  }
}

extension FileError {
  /// Creates an error from one of a temporary database, which has no name: the path is that of its folder.
  fileprivate init(_ error: SQLiteError) {
    let folder = AppleStore.sqliteFolder
    switch error.kind {
    case .noRoom: self = .noRoom(at: folder)
    case .inputOutput where error.systemNumber != 0,
      .cannotOpen where error.systemNumber != 0:
      self.init(error.systemNumber, at: folder)
    default: self = .incomplete(at: folder)
    }
  }
}
