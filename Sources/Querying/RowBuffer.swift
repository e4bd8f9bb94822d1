import Rendering

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
