import Bytes

/// The columns of a table for people, as wide as their widest cells.
///
/// A table that may be long is read twice: for the widths of its cells, and to append its rows.
struct TextColumns {
  /// A column.
  struct Column {
    enum Alignment {
      case left
      case right
    }

    /// The heading.
    var title: String
    /// The alignment of the cells.
    var alignment = Alignment.left
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

/// Bars that show a share.
enum BarText {
  /// Returns a bar of at most `width` columns, with a resolution of an eighth of a column, or of `#` if `asciiOnly`.
  static func text(part: Int64, of whole: Int64, width: Int, asciiOnly: Bool) -> String {
    let share = share(part, of: whole)
    if asciiOnly {
      return String(repeating: "#", count: Int((share * Double(width)).rounded()))
    }
    let eighths = Int((share * Double(width * 8)).rounded())
    // With eighths, shares that differ by less than a column still look different.
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + partial[eighths % 8]
  }

  /// Returns the percentage of `part` in `whole`, which may exceed 100.
  static func percent(_ part: Int64, of whole: Int64) -> Int64 {
    guard whole > 0, part > 0 else { return 0 }
    let percent = (Double(part) / Double(whole) * 100).rounded()
    // Larger values would trap in the conversion, and a store can claim any size.
    return percent < 1e15 ? Int64(percent) : .max
  }

  /// Returns the number of columns of the bar that ``text(part:of:width:asciiOnly:)`` returns.
  static func columns(part: ByteCount, of whole: ByteCount, width: Int, asciiOnly: Bool) -> Int {
    text(part: part, of: whole, width: width, asciiOnly: asciiOnly).unicodeScalars.count
  }

  /// Returns the bar for a number of bytes.
  static func text(part: ByteCount, of whole: ByteCount, width: Int, asciiOnly: Bool) -> String {
    text(part: part.bytes, of: whole.bytes, width: width, asciiOnly: asciiOnly)
  }

  /// Returns the percentage of one size in another, which may exceed 100.
  static func percent(_ part: ByteCount, of whole: ByteCount) -> Int64 {
    percent(part.bytes, of: whole.bytes)
  }

  private static func share(_ part: Int64, of whole: Int64) -> Double {
    guard whole > 0 else { return 0 }
    // A part can be larger than its whole, as of a cache over its capacity, and a bar must not
    // leave its place.
    return min(max(Double(part) / Double(whole), 0), 1)
  }
}
