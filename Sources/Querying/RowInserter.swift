import Rendering
import SQLite

/// Inserts rows into some of the columns of a table.
struct RowInserter: ~Copyable {
  private var statement: Statement

  /// Prepares the insertion.
  ///
  /// - Parameter columns: The names of the columns, at least one.
  init(
    into table: EntryTable, columns: [String], of connection: borrowing Connection
  ) throws(SQLiteError) {
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = columns.map { _ in "?" }.joined(separator: ", ")
    statement = try connection.prepare(
      "INSERT INTO \(table.rawValue)(\(names)) VALUES(\(places))")
  }

  /// Sets the value of a column of the next row. Columns are numbered from 0, as in the list at the beginning.
  mutating func set(_ value: DatabaseValue, at column: Int) throws(SQLiteError) {
    let parameter = Int32(column + 1)
    switch value {
    case .null: try statement.bindNull(at: parameter)
    case .integer(let value): try statement.bind(integer: value, at: parameter)
    case .real(let value): try statement.bind(real: value, at: parameter)
    case .text(let text): try statement.bind(text: text, at: parameter)
    case .bytes(let bytes): try statement.bind(blob: bytes, at: parameter)
    }
  }

  /// Inserts a row with a value for each column.
  mutating func insert(_ values: [DatabaseValue]) throws(SQLiteError) {
    for (index, value) in values.enumerated() { try set(value, at: index) }
    try insert()
  }

  /// Inserts the row.
  mutating func insert() throws(SQLiteError) {
    _ = try statement.step()
    statement.reset()
  }
}
