import Rendering
public import ResponseStorage
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

/// Tables to which the rows of entries are added.
public protocol EntryRowTarget: ~Copyable {
  /// The parts of a response to decode.
  var projection: Projection { get }

  /// No rows, to be filled with those of entries on any thread.
  var emptyRows: EntryRows { get }

  /// Adds the rows of an entry.
  ///
  /// - Throws: ``QueryError``
  mutating func insert(_ response: borrowing StoredResponse) throws(QueryError)

  /// Adds rows, and removes them from `rows`.
  ///
  /// - Throws: ``QueryError``
  mutating func insert(_ rows: inout EntryRows) throws(QueryError)
}

/// Rows of several tables, in a few flat arrays: an allocation for each value would take most of the time.
struct RowBuffer: Sendable {
  /// A value; text and bytes are a range of ``bytes``.
  enum Value: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(Range<Int>)
    case bytes(Range<Int>)
  }

  /// The tables of the rows, in their order.
  private(set) var tables: [EntryTable] = []
  /// The values of all rows, one row after the other.
  private(set) var values: [Value] = []
  /// The text and the bytes of all values.
  private(set) var bytes: [UInt8] = []

  /// About the number of bytes of the rows.
  var byteCount: Int { bytes.count + values.count * MemoryLayout<Value>.stride }

  /// Appends a value of the row that ``endRow(of:)`` ends.
  mutating func append(_ value: DatabaseValue) {
    switch value {
    case .null: values.append(.null)
    case .integer(let value): values.append(.integer(value))
    case .real(let value): values.append(.real(value))
    case .text(let text): values.append(.text(append(text)))
    case .bytes(let text): values.append(.bytes(append(text)))
    }
  }

  /// Ends a row.
  mutating func endRow(of table: EntryTable) { tables.append(table) }

  /// Appends a row with a value for each column.
  mutating func append(row: [DatabaseValue], of table: EntryTable) {
    for value in row { append(value) }
    endRow(of: table)
  }

  /// Removes everything, and keeps the memory.
  mutating func removeAll() {
    tables.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ text: [UInt8]) -> Range<Int> {
    let start = bytes.count
    bytes += text
    return start..<bytes.count
  }
}
