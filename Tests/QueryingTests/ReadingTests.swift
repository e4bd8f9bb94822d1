import SQLite
import Testing

/// What a statement reads, and what is refused to read.
@Suite struct ReadingTests {
  /// Returns the columns that a statement reads, as `table.column`.
  private func columns(_ sql: String) throws -> [String] {
    let connection = try Connection.temporary()
    try connection.execute("CREATE TABLE entries(id INTEGER, url TEXT, size INTEGER)")
    try connection.execute("CREATE TABLE headers(id INTEGER, name TEXT)")
    return try connection.columnsRead(by: sql).map { "\($0.table).\($0.column)" }.sorted()
  }

  @Test(
    arguments: [
      ("SELECT 1", []),
      ("SELECT count(*) FROM entries", ["entries."]),
      ("SELECT URL FROM entries WHERE size > 1;", ["entries.size", "entries.url"]),
      (" ; -- first\nSELECT id FROM entries; -- last", ["entries.id"]),
      ("WITH e AS (SELECT url FROM entries) SELECT * FROM e", ["entries.url"]),
      (
        "SELECT url FROM entries WHERE id IN (SELECT id FROM headers WHERE name = 'a')",
        ["entries.id", "entries.url", "headers.id", "headers.name"]
      ),
    ] as [(String, [String])])
  func `the columns that a statement reads`(_ sql: String, _ expected: [String]) throws {
    #expect(try columns(sql) == expected)
  }

  @Test(
    arguments: [
      ("", .empty), (" ;; -- nothing", .empty), ("SELECT 1; SELECT 2", .severalStatements),
      ("ATTACH 'a' AS b", .action("ATTACH")), ("PRAGMA user_version", .action("PRAGMA")),
      ("DELETE FROM entries", .action("DELETE")), ("BEGIN", .action("a transaction")),
      ("SELECT load_extension('a')", .action("the function load_extension")),
      ("SELECT * FROM pragma_table_info('entries')", .action("a virtual table")),
      ("VACUUM INTO '/tmp/a'", .action("a statement that changes a database")),
    ] as [(String, ReadingRefusal)])
  func `what does more than read is refused`(_ sql: String, _ refusal: ReadingRefusal) {
    #expect(throws: refusal) { try columns(sql) }
  }

  @Test func `a NUL is no end of a statement`() {
    #expect { try columns("SELECT 1\0; DELETE FROM entries") } throws: { error in
      guard case .invalid(let error) = error as? ReadingRefusal else { return false }
      return error.message == "the SQL has a NUL character"
    }
  }

  @Test func `a connection that only reads stays so`() throws {
    let connection = try Connection.temporary()
    try connection.execute("CREATE TABLE entries(id INTEGER)")
    connection.restrictToReading()
    try connection.execute("SELECT * FROM entries, json_each('[1]')")
    for sql in ["DROP TABLE entries", "PRAGMA user_version = 1", "SELECT load_extension('a')"] {
      #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    }
  }

  @Test func `a statement without end is interrupted`() throws {
    let connection = try Connection.temporary()
    var (questions, kind): (Int, SQLiteError.Kind?) = (0, nil)
    connection.interrupting(
      when: {
        questions += 1
        return questions == 3
      },
      {
        do throws(SQLiteError) {
          try connection.execute(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
          )
        } catch { kind = error.kind }
      })
    #expect(kind == .interrupted && questions == 3)
    // The question is forgotten afterwards.
    try connection.execute("SELECT 1")
  }
}
