/// A small table for people, whose columns are as wide as their widest cells.
struct TextTable {
  /// A column.
  struct Column {
    /// What stands over it.
    var title: String
    /// To which side its cells are moved.
    var alignment = Rendering.Column.Alignment.left
  }

  private let columns: [Column]
  private var rows: [[[UInt8]]]

  /// Starts a table without rows.
  init(_ columns: [Column]) {
    self.columns = columns
    rows = [columns.map { Array($0.title.utf8) }]
  }

  /// Adds a row, which has a cell for each column; text from outside was made safe before.
  mutating func append(_ cells: [[UInt8]]) {
    rows.append(cells)
  }

  /// Appends the table, its titles first.
  func append(to buffer: inout TextBuffer) {
    let widths = columns.indices.map { index in
      rows.reduce(0) { max($0, DisplayWidth.width(of: $1[index][...])) }
    }
    for row in rows {
      for (index, cell) in row.enumerated() {
        if index > 0 { buffer.append("  ") }
        let padding = widths[index] - DisplayWidth.width(of: cell[...])
        if columns[index].alignment == .right { buffer.append(UInt8(ascii: " "), count: padding) }
        buffer.append(contentsOf: cell)
        if columns[index].alignment == .left { buffer.append(UInt8(ascii: " "), count: padding) }
      }
      buffer.trimTrailingSpaces()
      buffer.append(UInt8(ascii: "\n"))
    }
  }
}
