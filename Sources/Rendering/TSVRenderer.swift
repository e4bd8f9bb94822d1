import ResponseStorage

/// A list as tab-separated values, in which no cell holds a tab, a line end or a backslash.
struct TSVRenderer: ResponseRenderer {
  private let columns: [Column]
  private let cells: CellReader
  private let now: Timestamp

  init(columns: [Column], secrets: SecretPolicy, now: Timestamp) {
    self.columns = columns
    cells = CellReader(secrets: secrets, reader: .programs)
    self.now = now
  }

  mutating func begin(into buffer: inout TextBuffer) {
    for (index, column) in columns.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: "\t")) }
      buffer.append(column.jsonKey)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    var isFirst = true
    for column in columns {
      if !isFirst { buffer.append(UInt8(ascii: "\t")) }
      isFirst = false
      let value = cells.value(of: column, in: response)
      buffer.append(delimited: value, now: now) {
        $0.append(shown: $1, alsoEscaping: UInt8(ascii: "\\"))
      }
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}
