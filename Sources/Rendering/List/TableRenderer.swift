import Administration
import Bytes
import ResponseStorage

/// Renders a list as a table for people.
///
/// The first rows determine the column widths and are kept until then. Later rows are written at once, even if a cell
/// is wider than its column, so that memory and delay do not grow with the list.
struct TableRenderer: ResponseRenderer {
  /// The cells of a row.
  private struct Row {
    var text = TextBuffer()
    /// The end of each cell in the text.
    var ends: [Int] = []
    var widths: [Int] = []
  }

  private static let gap = 2
  private static let widestColumn = 60
  private static let keptRowLimit = 256
  // Cells can be very long, so kept rows are limited by bytes as well.
  private static let keptByteLimit = 1 << 20

  private let columns: [Column]
  private let cells: CellReader
  private let now: Timestamp
  private let terminalWidth: Int?
  private var kept: [Row] = []
  private var keptBytes = 0
  private var widths: [Int]?
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
    if let widths {
      fill(&reused, with: response)
      append(reused, widths, into: &buffer)
      return
    }
    var row = Row()
    fill(&row, with: response)
    keptBytes += row.text.bytes.count
    kept.append(row)
    if kept.count == Self.keptRowLimit || keptBytes > Self.keptByteLimit {
      appendKept(into: &buffer)
    }
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {
    if widths == nil { appendKept(into: &buffer) }
  }

  private func fill(_ row: inout Row, with response: borrowing StoredResponse) {
    row.text.removeAll(keepingCapacity: true)
    row.ends.removeAll(keepingCapacity: true)
    row.widths.removeAll(keepingCapacity: true)
    for column in columns {
      let start = row.text.bytes.count
      append(cells.value(of: column, in: response), into: &row.text)
      // Without it, columns would shift for `awk` and the like.
      if row.text.bytes.count == start { row.text.append(UInt8(ascii: "-")) }
      row.ends.append(row.text.bytes.count)
      row.widths.append(DisplayWidth.width(of: row.text.bytes[start...]))
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
      let widest = kept.reduce(0) { max($0, $1.widths[index]) }
      // One long cell must not push all other columns out of the terminal. It sticks out of its own
      // row only.
      widths.append(max(min(widest, Self.widestColumn), width))
    }
    append(header, widths, into: &buffer)
    for row in kept { append(row, widths, into: &buffer) }
    kept = []
    self.widths = widths
  }

  private func append(_ row: Row, _ widths: [Int], into buffer: inout TextBuffer) {
    var start = 0
    var used = 0
    for (index, column) in columns.enumerated() {
      if index > 0 {
        buffer.append(UInt8(ascii: " "), count: Self.gap)
        used += Self.gap
      }
      let cell = row.text.bytes[start..<row.ends[index]]
      start = row.ends[index]
      let padding = widths[index] - row.widths[index]
      let isLast = index == columns.count - 1
      if column.alignment == .right { buffer.append(UInt8(ascii: " "), count: padding) }
      // Only the last column: it is the one that wraps, and shortening any other would hide what
      // the user asked to see.
      if isLast, column == .url || column == .key, let terminalWidth {
        // In a very narrow terminal, a line that wraps is better than a URL of which nothing is
        // left.
        let room = max(terminalWidth - used, 20)
        buffer.append(contentsOf: DisplayWidth.shortened(cell, to: room))
      } else {
        buffer.append(contentsOf: cell)
      }
      if column.alignment == .left, !isLast { buffer.append(UInt8(ascii: " "), count: padding) }
      used += max(widths[index], row.widths[index])
    }
    // Trailing spaces are copied along, and make terminals wrap lines that look as if they fitted.
    buffer.trimTrailingSpaces()
    buffer.append(UInt8(ascii: "\n"))
  }
}
