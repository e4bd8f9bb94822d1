public import Bytes
public import Files

/// A database that only this process sees, for what may not fit into memory. It is gone when it is deallocated.
///
/// SQLite sorts in it, and writes to an unnamed file what is larger than its page cache. Where there is no room for a file, all of
/// it is kept in memory: a removal may have been started to make room on a full disk. Errors are those of an unnamed file, which has
/// no path but that of its ``folder``.
public struct Scratch: ~Copyable {
  private let connection: Connection
  /// Whether nothing is written, because there is no room.
  private let isInMemory: Bool
  private let space: TemporarySpace

  /// The folder in which SQLite keeps temporary files ("Temporary Files", §5).
  public static var folder: String {
    ["SQLITE_TMPDIR", "TMPDIR"].lazy.compactMap(CurrentProcess.variable).first { !$0.isEmpty }
      ?? "/var/tmp"
  }

  /// Creates a database.
  ///
  /// - Parameters:
  ///   - tables: The statements that create its tables.
  ///   - status: Returns the status of the file system of a folder.
  public init(
    tables: [String],
    status: (String) throws(FileError) -> FileSystemStatus = {
      path throws(FileError) in try FileSystemStatus.of(path)
    }
  ) throws(FileError) {
    let status = try? status(Self.folder)
    isInMemory = status.map { !$0.hasRoomForTemporaryFiles } ?? true
    space = TemporarySpace(on: status?.device ?? 0)
    do throws(SQLiteError) { connection = try Self.connection(with: tables, isInMemory) } catch {
      throw FileError(error)
    }
  }

  private static func connection(
    with tables: [String], _ isInMemory: Bool
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection.temporary(usesJSON: false)
    if isInMemory {
      connection.allowMuchMemory()
      try connection.execute("PRAGMA cache_spill = OFF")
      try connection.execute("PRAGMA temp_store = MEMORY")
    }
    for table in tables { try connection.execute(table) }
    // One transaction for all of it: with several, each would write its pages to the file.
    try connection.execute("BEGIN")
    return connection
  }

  /// Executes statements without results.
  public borrowing func execute(_ sql: String) throws(FileError) {
    do throws(SQLiteError) { try connection.execute(sql) } catch { throw FileError(error) }
  }

  /// Writes everything to the file, so that reading it later needs no more room.
  public borrowing func complete() throws(FileError) {
    if isInMemory { return }
    try execute("COMMIT")
    var size = try prepare("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    guard try step(&size) else { return }
    // SQLite keeps what is smaller in memory.
    let bytes = size.integer(at: 0)
    if bytes > Connection.temporaryCacheBytes { space.set(bytes) }
  }

  /// Prepares a statement.
  public borrowing func prepare(_ sql: String) throws(FileError) -> Statement {
    do throws(SQLiteError) { return try connection.prepare(sql) } catch { throw FileError(error) }
  }

  /// Moves a statement to its next row.
  ///
  /// - Returns: `false` when there are no more rows.
  public borrowing func step(_ statement: inout Statement) throws(FileError) -> Bool {
    do throws(SQLiteError) { return try statement.step() } catch { throw FileError(error) }
  }

  /// Begins a statement again, with other integers as its first parameters.
  public borrowing func restart(
    _ statement: inout Statement, _ integers: Int64...
  ) throws(FileError) {
    statement.reset()
    try bind(to: &statement) { statement throws(SQLiteError) in
      for (index, integer) in integers.enumerated() {
        try statement.bind(integer: integer, at: Int32(index + 1))
      }
    }
  }

  /// Sets parameters of a statement.
  public borrowing func bind(
    to statement: inout Statement, _ body: (inout Statement) throws(SQLiteError) -> Void
  ) throws(FileError) {
    do throws(SQLiteError) { try body(&statement) } catch { throw FileError(error) }
  }
}

extension Scratch {
  /// Returns the value in a column of the current row.
  public borrowing func row<Row: ScratchRow>(
    _ statement: borrowing Statement, at column: Int32
  ) throws(FileError) -> Row {
    try unpack(statement, at: column) { reader throws(PackedReader.Failure) in
      try Row(from: &reader)
    }
  }

  /// Reads packed values in a column of the current row.
  public borrowing func unpack<Result>(
    _ statement: borrowing Statement, at column: Int32,
    _ body: (inout PackedReader) throws(PackedReader.Failure) -> Result
  ) throws(FileError) -> Result {
    var reader = PackedReader(statement.bytes(at: column))
    do throws(PackedReader.Failure) { return try body(&reader) } catch {
      throw FileError.incomplete(at: Self.folder).ofTemporaryFile
    }
  }
}

extension FileError {
  /// Creates an error from one of a temporary database.
  fileprivate init(_ error: SQLiteError) {
    let folder = Scratch.folder
    let other =
      switch error.kind {
      case .noRoom: FileError.noRoom(at: folder)
      case .inputOutput where error.systemNumber != 0, .cannotOpen where error.systemNumber != 0:
        FileError(error.systemNumber, at: folder)
      default: FileError.incomplete(at: folder)
      }
    self = other.ofTemporaryFile
  }
}
