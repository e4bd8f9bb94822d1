import Administration
import Bytes
import ResponseStorage

/// Renders a list as a table for people.
///
/// The first rows determine the column widths and are kept until then. Later rows are written at once, so that memory
/// and delay do not grow with the list. If a terminal has a width, no row is wider: text is shortened, URLs in the
/// middle. Without a width, later rows may be wider than their columns.
struct TableRenderer: ResponseRenderer {
  /// The cells of a row.
  private struct Row {
    var text = TextBuffer()
    /// The end of each cell in the text.
    var ends: [Int] = []
    var widths: [Int] = []
    /// Whether each cell is a number, which is not shortened.
    var numbers: [Bool] = []
    /// What each cell is, for its color.
    var emphases: [Emphasis?] = []
  }

  private let columns: [EntryField]
  /// Whether the cells of each column are aligned to the right: fields take longer to copy.
  private let isNumeric: [Bool]
  private let cells: CellReader
  private let now: Timestamp
  private let terminalWidth: Int?
  private var kept: [Row] = []
  private var keptBytes = 0
  private var layout: TableLayout?
  // Reused for all rows after the kept ones, so that they need no new memory.
  private var reused = Row()

  init(
    columns: [EntryField], secrets: SecretPolicy, context: EntryContext, terminalWidth: Int?
  ) {
    self.columns = columns
    isNumeric = columns.map(\.isNumeric)
    cells = CellReader(columns, secrets: secrets, reader: .people, context: context)
    now = context.now
    self.terminalWidth = terminalWidth
  }

  mutating func begin(into buffer: inout TextBuffer) {}

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    if let layout {
      fill(&reused, with: response)
      append(reused, layout, into: &buffer)
      return
    }
    var row = Row()
    fill(&row, with: response)
    keptBytes += row.text.bytes.count
    kept.append(row)
    if TableLayout.isEnough(rows: kept.count, bytes: keptBytes) { appendKept(into: &buffer) }
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    if layout == nil { appendKept(into: &buffer) }
  }

  private func fill(_ row: inout Row, with response: borrowing StoredResponse) {
    row.text.removeAll(keepingCapacity: true)
    row.ends.removeAll(keepingCapacity: true)
    row.widths.removeAll(keepingCapacity: true)
    row.numbers.removeAll(keepingCapacity: true)
    row.emphases.removeAll(keepingCapacity: true)
    for column in columns.indices {
      let start = row.text.bytes.count
      let value = cells.value(at: column, in: response)
      row.text.append(value, at: now)
      // Without it, columns would shift for `awk` and the like.
      if row.text.bytes.count == start { row.text.append(UInt8(ascii: "-")) }
      row.ends.append(row.text.bytes.count)
      row.widths.append(DisplayWidth.width(of: row.text.bytes[start...]))
      row.numbers.append(Self.isNumber(value))
      row.emphases.append(Self.emphasis(of: value))
    }
  }

  private static func isNumber(_ value: EntryField.Value?) -> Bool {
    switch value {
    case .integer, .byteCount, .percent, .age, .duration: true
    default: false
    }
  }

  /// Returns the emphasis of freshness; other values have none.
  private static func emphasis(of value: EntryField.Value?) -> Emphasis? {
    switch value {
    case .freshness(let state): state?.emphasis
    case .remainingLifetime(let seconds):
      seconds.map { $0 > 0 ? Emphasis.fresh : .stale } ?? .noLifetime
    default: nil
    }
  }

  private mutating func appendKept(into buffer: inout TextBuffer) {
    var header = Row()
    var widths: [Int] = []
    for (index, column) in columns.enumerated() {
      let start = header.text.bytes.count
      header.text.append(shown: column.title)
      header.ends.append(header.text.bytes.count)
      let width = DisplayWidth.width(of: header.text.bytes[start...])
      header.widths.append(width)
      header.numbers.append(false)
      header.emphases.append(.heading)
      let widest = kept.reduce(0) { max($0, $1.widths[index]) }
      widths.append(TableLayout.naturalWidth(title: width, widestCell: widest))
    }
    let layout = TableLayout(columns, widths, terminalWidth: terminalWidth)
    append(header, layout, into: &buffer)
    for row in kept { append(row, layout, into: &buffer) }
    kept = []
    self.layout = layout
  }

  private func append(_ row: Row, _ layout: TableLayout, into buffer: inout TextBuffer) {
    let limits = layout.limits(ofCells: row.widths, numbers: row.numbers)
    var start = 0
    for index in isNumeric.indices {
      if index > 0 { buffer.append(UInt8(ascii: " "), count: TableLayout.gap) }
      var cell = row.text.bytes[start..<row.ends[index]]
      start = row.ends[index]
      var width = row.widths[index]
      if let limits, width > limits[index] {
        cell = DisplayWidth.shortened(cell, to: limits[index], style: buffer.style)
        width = DisplayWidth.width(of: cell)
      }
      let padding = layout.widths[index] - width
      if isNumeric[index] { buffer.append(UInt8(ascii: " "), count: padding) }
      buffer.append(as: row.emphases[index]) { $0.append(contentsOf: cell) }
      if !isNumeric[index], index < isNumeric.count - 1 {
        buffer.append(UInt8(ascii: " "), count: padding)
      }
    }
    // Trailing spaces are copied along, and make terminals wrap lines that look as if they fitted.
    buffer.trimTrailingSpaces()
    buffer.append(UInt8(ascii: "\n"))
  }
}

extension TextBuffer {
  /// Appends the value of a column for people; nothing if it is unknown.
  mutating func append(_ value: EntryField.Value?, at now: Timestamp) {
    switch value {
    case nil: break
    case .integer(let value): append(integer: value)
    case .byteCount(let value): append(byteCount: value)
    case .percent(let value, _): append("\(value)%")
    case .text(let value), .url(let value), .urlPart(_, let value), .fileName(let value):
      append(shown: value)
    case .word(let word): append(word)
    case .freshness(let state): append(state.words)
    case .time(let time): append(time: time)
    case .age(let time): append(AgeText.text(from: time, to: now))
    case .duration(let seconds): append(AgeText.text(seconds: seconds))
    case .remainingLifetime(let seconds): append(remainingLifetime: seconds)
    case .texts(let texts): append(words: texts, orElse: "none")
    case .headers(let headers): append(shown: headers.joined)
    case .notes(let notes): append(codesOf: notes)
    case .property(_, let value): append(shown: value.text)
    case .properties(let properties): append(shown: properties.text)
    }
  }
}

/// The widths of the columns of a table, which fit into a terminal if it has a known width.
struct TableLayout {
  /// The space between two columns.
  static let gap = 2
  private static let widestColumn = 60
  private static let mostKeptRows = 256
  // Cells can be very long, so kept rows are limited by bytes as well.
  private static let mostKeptBytes = 1 << 20
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
  init(_ columns: [EntryField], _ natural: [Int], terminalWidth: Int?) {
    self.terminalWidth = terminalWidth
    var widths = natural
    if let terminalWidth {
      let room = terminalWidth - Self.gap * (columns.count - 1)
      // Shorten text before numbers.
      let texts = columns.indices.filter { !columns[$0].isNumeric }
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
