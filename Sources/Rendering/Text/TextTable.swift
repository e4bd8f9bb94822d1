/// A small table for people, with columns as wide as their widest cells.
struct TextTable {
  /// A column.
  struct Column {
    /// The heading.
    var title: String
    /// The alignment of the cells.
    var alignment = Rendering.Column.Alignment.left
  }

  private let columns: [Column]
  private var rows: [(cells: [[UInt8]], emphases: [Emphasis?])]

  /// Creates a table without rows.
  init(_ columns: [Column]) {
    self.columns = columns
    rows = [
      (columns.map { Array($0.title.utf8) }, Array(repeating: .heading, count: columns.count))
    ]
  }

  /// Adds a row with a cell for each column. Text from outside must have been made safe.
  ///
  /// - Parameter emphasis: The emphasis of the first cell.
  mutating func append(_ cells: [[UInt8]], startingAs emphasis: Emphasis? = nil) {
    rows.append((cells, cells.indices.map { $0 == 0 ? emphasis : nil }))
  }

  /// Appends the table, headings first.
  func append(to buffer: inout TextBuffer) {
    // The whole table is in memory. So it is only for tables with few rows, unlike that of `list`.
    let widths = columns.indices.map { index in
      rows.reduce(0) { max($0, DisplayWidth.width(of: $1.cells[index][...])) }
    }
    for row in rows {
      for (index, cell) in row.cells.enumerated() {
        if index > 0 { buffer.append("  ") }
        let padding = widths[index] - DisplayWidth.width(of: cell[...])
        if columns[index].alignment == .right { buffer.append(UInt8(ascii: " "), count: padding) }
        buffer.append(as: row.emphases[index]) { $0.append(contentsOf: cell) }
        if columns[index].alignment == .left { buffer.append(UInt8(ascii: " "), count: padding) }
      }
      buffer.trimTrailingSpaces()
      buffer.append(UInt8(ascii: "\n"))
    }
  }
}
