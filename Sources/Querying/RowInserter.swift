import SQLite

/// Inserts rows into some of the columns of a table.
struct RowInserter: ~Copyable {
  private var statement: Statement
  /// The number of values of a row.
  let columnCount: Int

  /// Prepares the insertion.
  ///
  /// - Parameter columns: The names of the columns, at least one.
  init(
    into table: EntryTable, columns: [String], of connection: borrowing Connection
  ) throws(SQLiteError) {
    columnCount = columns.count
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    statement = try connection.prepare(
      "INSERT INTO \(table.rawValue)(\(names)) VALUES(\(places))")
  }

  /// Inserts a row.
  ///
  /// - Parameter first: The index of its first value.
  mutating func insert(_ rows: borrowing RowBuffer, from first: Int) throws(SQLiteError) {
    for column in 0..<columnCount {
      let parameter = Int32(column + 1)
      switch rows.values[first + column] {
      case .null: try statement.bindNull(at: parameter)
      case .integer(let value): try statement.bind(integer: value, at: parameter)
      case .real(let value): try statement.bind(real: value, at: parameter)
      case .text(let range):
        try statement.bind(text: rows.bytes.span.extracting(range), at: parameter)
      case .bytes(let range):
        try statement.bind(blob: rows.bytes.span.extracting(range), at: parameter)
      }
    }
    _ = try statement.step()
    statement.reset()
  }
}
