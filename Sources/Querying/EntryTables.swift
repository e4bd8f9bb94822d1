import Administration
import Rendering
import ResponseStorage
import SQLite

/// Fills tables with decoded entries: only the columns that are read.
struct EntryTables: ~Copyable {
  /// The rows to fill on any thread, without rows.
  let emptyRows: EntryRows

  /// The rows of the entries that are inserted one by one.
  private var rows: EntryRows
  private var entries: RowInserter?
  private var headers: RowInserter?
  private var findings: RowInserter?
  private var userInfo: RowInserter?
  private var directives: RowInserter?

  /// Prepares to fill tables that have been created in a database.
  ///
  /// - Parameter read: The columns that are read.
  init(
    in connection: borrowing Connection, read: Set<ReadColumn>, reader: ColumnReader,
    check: EntryCheck
  ) throws(SQLiteError) {
    let columns = EntryTable.listColumns(read: read)
    let names = Set(read.map(\.table))
    let tables = Set(EntryTable.allCases.filter { names.contains($0.rawValue) })
    for table in tables {
      let names = table == .entries ? columns.map(\.databaseName) : table.columns.map(\.name)
      let inserter = try RowInserter(into: table, columns: names, of: connection)
      switch table {
      case .entries: entries = consume inserter
      case .headers: headers = consume inserter
      case .findings: findings = consume inserter
      case .userInfo: userInfo = consume inserter
      case .directives: directives = consume inserter
      }
    }
    emptyRows = EntryRows(columns: columns, tables: tables, reader: reader, check: check)
    rows = emptyRows
  }

  /// Inserts the rows of an entry.
  mutating func insert(_ response: borrowing StoredResponse) throws(SQLiteError) {
    rows.insert(response)
    try insert(rows.rows)
    rows.removeAll()
  }

  /// Inserts rows, and removes them from `rows`.
  mutating func insert(_ rows: inout EntryRows) throws(SQLiteError) {
    try insert(rows.rows)
    rows.removeAll()
  }

  private mutating func insert(_ rows: borrowing RowBuffer) throws(SQLiteError) {
    var first = 0
    for row in 0..<rows.tables.count {
      switch rows.tables[row] {
      case .entries: first += try Self.insert(rows, from: first, &entries)
      case .headers: first += try Self.insert(rows, from: first, &headers)
      case .findings: first += try Self.insert(rows, from: first, &findings)
      case .userInfo: first += try Self.insert(rows, from: first, &userInfo)
      case .directives: first += try Self.insert(rows, from: first, &directives)
      }
    }
    try entries?.finish(rows)
    try headers?.finish(rows)
    try findings?.finish(rows)
    try userInfo?.finish(rows)
    try directives?.finish(rows)
  }

  /// Inserts a row, and returns the number of its values.
  private static func insert(
    _ rows: borrowing RowBuffer, from first: Int, _ inserter: inout RowInserter?
  ) throws(SQLiteError) -> Int {
    try inserter?.insert(rows, from: first)
    return inserter?.columnCount ?? 0
  }
}
