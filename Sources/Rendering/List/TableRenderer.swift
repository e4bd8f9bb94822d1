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

  private let columns: [Column]
  private let cells: CellReader
  private let now: Timestamp
  private let terminalWidth: Int?
  private var kept: [Row] = []
  private var keptBytes = 0
  private var layout: TableLayout?
  // Reused for all rows after the kept ones, so that they need no new memory.
  private var reused = Row()

  init(
    columns: [Column], secrets: SecretPolicy, now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule], terminalWidth: Int?
  ) {
    self.columns = columns
    cells = CellReader(
      secrets: secrets, reader: .people, now: now, expiryRules: expiryRules)
    self.now = now
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
    for column in columns {
      let start = row.text.bytes.count
      let value = cells.value(of: column, in: response)
      append(value, into: &row.text)
      // Without it, columns would shift for `awk` and the like.
      if row.text.bytes.count == start { row.text.append(UInt8(ascii: "-")) }
      row.ends.append(row.text.bytes.count)
      row.widths.append(DisplayWidth.width(of: row.text.bytes[start...]))
      row.numbers.append(Self.isNumber(value))
      row.emphases.append(Self.emphasis(of: value))
    }
  }

  private static func isNumber(_ value: CellValue) -> Bool {
    switch value {
    case .integer, .byteCount, .percent, .age, .duration: true
    default: false
    }
  }

  /// Returns the emphasis of freshness; other values have none.
  private static func emphasis(of value: CellValue) -> Emphasis? {
    switch value {
    case .freshness(let state): state?.emphasis
    case .remainingLifetime(let seconds):
      seconds.map { $0 > 0 ? Emphasis.fresh : .stale } ?? .noLifetime
    default: nil
    }
  }

  private func append(_ value: CellValue, into text: inout TextBuffer) {
    switch value {
    case .unknown: break
    case .integer(let value): text.append(integer: value)
    case .byteCount(let value): text.append(byteCount: value)
    case .percent(let value): text.append("\(value)%")
    case .text(let value): text.append(shown: value)
    case .word(let word): text.append(word)
    case .freshness(let state): text.append(state.words)
    case .time(let time): text.append(time: time)
    case .age(let time): text.append(AgeText.text(from: time, to: now))
    case .duration(let seconds): text.append(AgeText.text(seconds: seconds))
    case .remainingLifetime(let seconds): text.append(remainingLifetime: seconds)
    case .words(let words): text.append(words: words, orElse: "none")
    case .headers(let headers): text.append(shown: headers.joined)
    case .notes(let notes): text.append(codesOf: notes)
    case .property(let value): text.append(shown: value.text)
    case .properties(let properties): text.append(shown: properties.text)
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
    for (index, column) in columns.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: " "), count: TableLayout.gap) }
      var cell = row.text.bytes[start..<row.ends[index]]
      start = row.ends[index]
      var width = row.widths[index]
      if let limits, width > limits[index] {
        // A file name of a Foundation store begins with the time, which tells entries apart better than the end does.
        cell = DisplayWidth.shortened(
          cell, to: limits[index], keeping: column == .id ? .start : .startAndEnd,
          style: buffer.style)
        width = DisplayWidth.width(of: cell)
      }
      let padding = layout.widths[index] - width
      if column.alignment == .right { buffer.append(UInt8(ascii: " "), count: padding) }
      buffer.append(as: row.emphases[index]) { $0.append(contentsOf: cell) }
      if column.alignment == .left, index < columns.count - 1 {
        buffer.append(UInt8(ascii: " "), count: padding)
      }
    }
    // Trailing spaces are copied along, and make terminals wrap lines that look as if they fitted.
    buffer.trimTrailingSpaces()
    buffer.append(UInt8(ascii: "\n"))
  }
}
