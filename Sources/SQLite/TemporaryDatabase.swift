public import Files

/// A database that only this process sees, for what may not fit into memory. It is gone when it is deallocated.
///
/// Its errors are those of an unnamed file in the folder for temporary files.
public struct TemporaryDatabase: ~Copyable {
  private let connection: Connection
  private let folder: String

  /// Creates a database in one transaction that never ends, so that nothing is written before the page cache is full.
  ///
  /// - Parameters:
  ///   - folder: The folder for temporary files.
  ///   - statements: The statements that create its tables.
  public init(in folder: String, creating statements: [String]) throws(FileError) {
    self.folder = folder
    do throws(SQLiteError) { connection = try Self.connection(statements) } catch {
      throw FileError(error, in: folder)
    }
  }

  private static func connection(_ statements: [String]) throws(SQLiteError) -> Connection {
    let connection = try Connection.temporary()
    for statement in statements { try connection.execute(statement) }
    try connection.execute("BEGIN")
    return connection
  }

  /// Returns what `body` returns, and throws its error as one of a file.
  public borrowing func perform<Result: ~Copyable>(
    _ body: (borrowing Connection) throws(SQLiteError) -> Result
  ) throws(FileError) -> Result {
    do throws(SQLiteError) { return try body(connection) } catch {
      throw FileError(error, in: folder)
    }
  }
}

extension FileError {
  /// Creates an error from one of a database in a folder.
  fileprivate init(_ error: SQLiteError, in folder: String) {
    self = error.kind == .noRoom ? .noRoom(at: folder) : .incomplete(at: folder)
  }
}
