import SQLite

/// Inserts rows into some of the columns of a table.
struct RowInserter: ~Copyable {
  /// The number of values of a row.
  let columnCount: Int

  /// Inserts one row.
  private var one: Statement
  /// Inserts ``rowsAtOnce`` rows. Beginning and ending a statement takes longer than inserting a row.
  private var many: Statement
  /// The indexes of the first values of rows that wait until there are enough of them.
  private var waiting: [Int] = []

  private static let rowsAtOnce = 16

  /// Prepares the insertion.
  ///
  /// - Parameter columns: The names of the columns, at least one.
  init(
    into table: EntryTable, columns: [String], of connection: borrowing Connection
  ) throws(SQLiteError) {
    let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
    let start = "INSERT INTO \(table.rawValue)(\(names)) VALUES"
    let one = try connection.prepare(start + row)
    let many = try connection.prepare(
      start + Array(repeating: row, count: Self.rowsAtOnce).joined(separator: ", "))
    self.one = one
    self.many = many
    columnCount = columns.count
    waiting.reserveCapacity(Self.rowsAtOnce)
  }

  /// Inserts a row, at the latest with the call of ``finish(_:)``, which must follow for the same rows. After an error
  /// nothing more can be inserted.
  ///
  /// - Parameter first: The index of its first value.
  mutating func insert(_ rows: borrowing RowBuffer, from first: Int) throws(SQLiteError) {
    waiting.append(first)
    guard waiting.count == Self.rowsAtOnce else { return }
    for (number, first) in waiting.enumerated() {
      try Self.bind(rows, from: first, columnCount, to: &many, after: number * columnCount)
    }
    waiting.removeAll(keepingCapacity: true)
    _ = try many.step()
    many.reset()
  }

  /// Inserts the rows that wait.
  mutating func finish(_ rows: borrowing RowBuffer) throws(SQLiteError) {
    for first in waiting {
      try Self.bind(rows, from: first, columnCount, to: &one, after: 0)
      _ = try one.step()
      one.reset()
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Binds the values of a row to the parameters after a number of others.
  private static func bind(
    _ rows: borrowing RowBuffer, from first: Int, _ count: Int, to statement: inout Statement,
    after others: Int
  ) throws(SQLiteError) {
    for column in 0..<count {
      let parameter = Int32(others + column + 1)
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
  }
}
