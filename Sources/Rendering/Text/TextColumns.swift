/// The columns of a table for people, as wide as their widest cells.
///
/// A table that may be long is read twice: for the widths of its cells, and to append its rows.
struct TextColumns {
  /// A column.
  struct Column {
    /// The heading.
    var title: String
    /// The alignment of the cells.
    var alignment = Rendering.Column.Alignment.left
  }

  private let columns: [Column]

  /// The width of each column.
  private(set) var widths: [Int]

  /// Creates columns that are as wide as their headings.
  init(_ columns: [Column]) {
    self.columns = columns
    widths = columns.map { DisplayWidth.width(of: Array($0.title.utf8)[...]) }
  }

  /// Makes columns wide enough for the cells of a row.
  ///
  /// - Parameter cells: The cells of the first columns; those of the last one need no room.
  mutating func widen(for cells: [[UInt8]]) {
    for (index, cell) in cells.enumerated() {
      widths[index] = max(widths[index], DisplayWidth.width(of: cell[...]))
    }
  }

  /// Appends the headings.
  func appendHeadings(to buffer: inout TextBuffer) {
    append(columns.map { Array($0.title.utf8) }, to: &buffer) { _ in .heading }
  }

  /// Appends a row with a cell for each column. Text from outside must have been made safe.
  ///
  /// - Parameter emphasis: The emphasis of the first cell.
  func append(
    _ cells: [[UInt8]], startingAs emphasis: Emphasis? = nil, to buffer: inout TextBuffer
  ) {
    append(cells, to: &buffer) { $0 == 0 ? emphasis : nil }
  }

  private func append(
    _ cells: [[UInt8]], to buffer: inout TextBuffer, _ emphasis: (Int) -> Emphasis?
  ) {
    for (index, cell) in cells.enumerated() {
      if index > 0 { buffer.append("  ") }
      let padding = max(0, widths[index] - DisplayWidth.width(of: cell[...]))
      if columns[index].alignment == .right { buffer.append(UInt8(ascii: " "), count: padding) }
      buffer.append(as: emphasis(index)) { $0.append(contentsOf: cell) }
      if columns[index].alignment == .left { buffer.append(UInt8(ascii: " "), count: padding) }
    }
    buffer.trimTrailingSpaces()
    buffer.append(UInt8(ascii: "\n"))
  }
}
