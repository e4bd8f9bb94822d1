internal import CSQLite

/// A column that a statement reads.
public struct ReadColumn: Hashable, Sendable {
  /// The name of the table.
  public let table: String

  /// The name of the column, as the table spells it; empty if only the number of rows matters.
  public let column: String

  /// Creates a column.
  public init(table: String, column: String) { (self.table, self.column) = (table, column) }
}

/// Why a text is not one statement that only reads.
public enum ReadingRefusal: Error, Hashable, Sendable {
  /// The text has no statement.
  case empty
  /// The text has several statements.
  case severalStatements
  /// The statement does something else; the words for it, such as `ATTACH` or `the function load_extension`.
  case action(String)
  /// SQLite does not understand the statement.
  case invalid(SQLiteError)
}

extension Connection {
  /// Returns the columns that one statement reads.
  ///
  /// - Throws: ``ReadingRefusal`` if the text is anything but one statement that only reads the tables of this database.
  public borrowing func columnsRead(by sql: String) throws(ReadingRefusal) -> Set<ReadColumn> {
    // A C string ends there, and what follows would be ignored in silence.
    guard !sql.utf8.contains(0) else {
      throw .invalid(SQLiteError(code: SQLITE_ERROR, message: "the SQL has a NUL character"))
    }
    let reading = Reading()
    let context = unsafe Unmanaged.passUnretained(reading).toOpaque()
    unsafe sqlite3_set_authorizer(handle, observe, context)
    defer { unsafe sqlite3_set_authorizer(handle, nil, nil) }
    return try withExtendedLifetime(reading) { () throws(ReadingRefusal) in
      let rest = try compile(sql, reading)
      guard let rest else { throw .empty }
      // White space, comments and semicolons may follow.
      guard try compile(rest, reading) == nil else { throw .severalStatements }
      return reading.columns
    }
  }

  /// Compiles the first statement of a text.
  ///
  /// - Returns: The text after the statement; `nil` if there is none.
  private borrowing func compile(
    _ sql: String, _ reading: Reading
  ) throws(ReadingRefusal) -> String? {
    var (statement, rest): (OpaquePointer?, String) = (nil, "")
    let code = unsafe sql.withCString { start in
      var end: UnsafePointer<CChar>?
      let code = unsafe sqlite3_prepare_v2(handle, start, -1, &statement, &end)
      if let end = unsafe end { rest = unsafe String(cString: end) }
      return code
    }
    defer { unsafe sqlite3_finalize(statement) }
    if let refused = reading.refused { throw .action(refused) }
    guard code == SQLITE_OK else { throw unsafe .invalid(SQLiteError(of: handle)) }
    guard unsafe statement != nil else {
      // A semicolon alone is an empty statement, and others may follow it.
      return rest.isEmpty ? nil : try compile(rest, reading)
    }
    // SQLite asks for permission to vacuum only when the statement runs, and never for some others.
    guard unsafe sqlite3_stmt_readonly(statement) != 0 else {
      throw .action("a statement that changes a database")
    }
    return rest
  }

  /// From now on, refuses to compile statements that do anything but read.
  ///
  /// Also bounds what a single step of a statement can cost, as SQLite asks whether to go on only between steps.
  public borrowing func restrictToReading() {
    unsafe sqlite3_set_authorizer(
      handle,
      { _, action, first, second, _, _ in
        unsafe refusal(of: action, first, second) == nil ? SQLITE_OK : SQLITE_DENY
      }, nil)
    // Comparing a long pattern takes time that grows with its length to the power of its wildcards.
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 8 << 20)
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
  }
}

/// What a statement does, as observed while it is compiled.
private final class Reading {
  var columns: Set<ReadColumn> = []
  var refused: String?
}

/// Records what a statement does, for `sqlite3_set_authorizer`.
private func observe(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _ second: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> Int32 {
  guard let context = unsafe context else { return SQLITE_DENY }
  let reading = unsafe Unmanaged<Reading>.fromOpaque(context).takeUnretainedValue()
  if let refused = unsafe refusal(of: action, first, second) {
    reading.refused = reading.refused ?? refused
    return SQLITE_DENY
  }
  if action == SQLITE_READ, let table = unsafe first, let column = unsafe second {
    reading.columns.insert(
      unsafe ReadColumn(table: String(cString: table), column: String(cString: column)))
  }
  return SQLITE_OK
}

/// Returns the words for an action that does more than read; `nil` for one that is allowed.
private func refusal(
  of action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?
) -> String? {
  switch action {
  case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return nil
  case SQLITE_FUNCTION:
    guard let name = unsafe second.map({ unsafe String(cString: $0) }) else { return "a function" }
    // Loading code, or making a tokenizer of a pointer, runs what a text says.
    let isSafe = !["load_extension", "fts3_tokenizer"].contains { $0 == name.lowercasedASCII }
    return isSafe ? nil : "the function \(name)"
  case SQLITE_ATTACH: return "ATTACH"
  case SQLITE_DETACH: return "DETACH"
  case SQLITE_PRAGMA: return "PRAGMA"
  case SQLITE_TRANSACTION, SQLITE_SAVEPOINT: return "a transaction"
  case SQLITE_INSERT: return "INSERT"
  case SQLITE_UPDATE:
    // A virtual table writes its declaration there when a statement first names it.
    let isDeclaration = unsafe first.map { unsafe String(cString: $0) } == "sqlite_master"
    return isDeclaration ? "a virtual table" : "UPDATE"
  case SQLITE_DELETE: return "DELETE"
  case SQLITE_ANALYZE: return "ANALYZE"
  case SQLITE_REINDEX: return "REINDEX"
  case SQLITE_ALTER_TABLE: return "ALTER TABLE"
  default: return "CREATE or DROP"
  }
}

extension String {
  fileprivate var lowercasedASCII: String {
    String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
