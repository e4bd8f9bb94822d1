/// A small table for people, all of which is in memory.
struct TextTable {
  typealias Column = TextColumns.Column

  private var columns: TextColumns
  private var rows: [(cells: [[UInt8]], emphasis: Emphasis?)] = []

  /// Creates a table without rows.
  init(_ columns: [Column]) { self.columns = TextColumns(columns) }

  /// Adds a row with a cell for each column. Text from outside must have been made safe.
  ///
  /// - Parameter emphasis: The emphasis of the first cell.
  mutating func append(_ cells: [[UInt8]], startingAs emphasis: Emphasis? = nil) {
    columns.widen(for: cells)
    rows.append((cells, emphasis))
  }

  /// Appends the table, headings first.
  func append(to buffer: inout TextBuffer) {
    columns.appendHeadings(to: &buffer)
    for row in rows { columns.append(row.cells, startingAs: row.emphasis, to: &buffer) }
  }
}
