/// The widths of the columns of a table, which fit into a terminal if it has a known width.
struct TableLayout {
  /// The space between two columns.
  static let gap = 2
  private static let widestColumn = 60
  private static let mostKeptRows = 256
  // Cells can be very long, so kept rows are limited by bytes as well.
  private static let mostKeptBytes = 1 << 20
  /// The width of the column `ID` for the long file names of a Foundation store, if the table does not fit.
  private static let fileNameWidth = 16
  /// The width below which text is only shortened if nothing else helps.
  private static let textWidth = 12
  private static let smallestWidth = 4

  /// The width of each column.
  let widths: [Int]
  private let terminalWidth: Int?

  /// Creates a layout.
  ///
  /// - Parameters:
  ///   - columns: The columns.
  ///   - natural: The width of each column if there is enough room.
  ///   - terminalWidth: The width of the terminal; `nil` if there is always enough room.
  init(_ columns: [Column], _ natural: [Int], terminalWidth: Int?) {
    self.terminalWidth = terminalWidth
    var widths = natural
    if let terminalWidth {
      let room = terminalWidth - Self.gap * (columns.count - 1)
      if widths.reduce(0, +) > room, let id = columns.firstIndex(of: .id) {
        widths[id] = min(widths[id], Self.fileNameWidth)
      }
      // Shorten text before numbers.
      let texts = columns.indices.filter { columns[$0].alignment == .left }
      Self.shrink(&widths, at: texts, downTo: Self.textWidth, toFit: room)
      Self.shrink(
        &widths, at: Array(columns.indices), downTo: Self.smallestWidth, toFit: room)
    }
    self.widths = widths
  }

  /// Whether enough rows are kept to decide about the widths. Later rows are written at once, so that memory and delay do
  /// not grow with the table.
  static func isEnough(rows: Int, bytes: Int) -> Bool {
    rows >= mostKeptRows || bytes > mostKeptBytes
  }

  /// Returns the width of a column if there is enough room.
  ///
  /// One long cell must not move all other columns far to the right. Without the width of a terminal, it sticks out of its
  /// own row only.
  static func naturalWidth(title: Int, widestCell: Int) -> Int {
    max(min(widestCell, widestColumn), title)
  }

  /// Makes some columns narrower, the widest first, until all columns fit.
  private static func shrink(
    _ widths: inout [Int], at indices: [Int], downTo smallest: Int, toFit room: Int
  ) {
    while widths.reduce(0, +) > room,
      let widest = indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > smallest
    {
      widths[widest] -= 1
    }
  }

  /// Returns the widest allowed width of each cell of a row; `nil` if all widths are allowed.
  ///
  /// A number that is wider than its column takes the room of the last column, because a shortened number is useless.
  func limits(ofCells cells: [Int], numbers: [Bool]) -> [Int]? {
    guard let terminalWidth, let last = widths.indices.last else { return nil }
    var limits = widths
    // At the end of a line, a cell may use the rest of it.
    limits[last] += max(0, terminalWidth - widths.reduce(0, +) - Self.gap * last)
    for index in cells.indices.dropLast() where numbers[index] {
      let taken = min(
        cells[index] - limits[index], max(0, limits[last] - Self.smallestWidth))
      guard taken > 0 else { continue }
      limits[index] += taken
      limits[last] -= taken
    }
    return limits
  }
}
