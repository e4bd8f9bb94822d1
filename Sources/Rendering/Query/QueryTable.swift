import Bytes

/// Renders the rows of a query as a table for people.
///
/// The first rows determine the column widths and are kept until then, as in a list.
struct QueryTable: Sendable {
  private typealias Cell = (text: [UInt8], isNumber: Bool)

  private let columns: [String]
  private var kept: [[DatabaseValue]] = []
  private var keptBytes = 0
  private var widths: [Int]?

  init(columns: [String]) { self.columns = columns }

  /// Appends a row, or keeps it until the column widths are known.
  mutating func append(_ row: [DatabaseValue], into buffer: inout TextBuffer) {
    if let widths { return Self.append(row.map(Self.cell), widths, into: &buffer) }
    kept.append(row)
    for case .text(let text) in row { keptBytes += text.count }
    for case .bytes(let bytes) in row { keptBytes += bytes.count }
    if TableLayout.isEnough(rows: kept.count, bytes: keptBytes) { appendKept(into: &buffer) }
  }

  /// Appends the rows that are still kept.
  mutating func finish(into buffer: inout TextBuffer) {
    if widths == nil { appendKept(into: &buffer) }
  }

  private mutating func appendKept(into buffer: inout TextBuffer) {
    let rows = kept.map { $0.map(Self.cell) }
    var titles = columns.map { title -> Cell in
      var text = TextBuffer()
      text.append(shown: Array(title.utf8))
      return (text.bytes, false)
    }
    var widths: [Int] = []
    for index in columns.indices {
      let title = DisplayWidth.width(of: titles[index].text[...])
      let widest = rows.reduce(0) { max($0, DisplayWidth.width(of: $1[index].text[...])) }
      widths.append(TableLayout.naturalWidth(title: title, widestCell: widest))
      // The heading stands where the numbers below it do.
      titles[index].isNumber = rows.first?[index].isNumber ?? false
    }
    Self.append(titles, widths, into: &buffer)
    for row in rows { Self.append(row, widths, into: &buffer) }
    kept = []
    self.widths = widths
  }

  private static func append(_ row: [Cell], _ widths: [Int], into buffer: inout TextBuffer) {
    for (index, cell) in row.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: " "), count: TableLayout.gap) }
      let padding = widths[index] - DisplayWidth.width(of: cell.text[...])
      if cell.isNumber { buffer.append(UInt8(ascii: " "), count: padding) }
      buffer.append(contentsOf: cell.text)
      if !cell.isNumber, index < row.count - 1 { buffer.append(UInt8(ascii: " "), count: padding) }
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  private static func cell(_ value: DatabaseValue) -> Cell {
    var text = TextBuffer()
    switch value {
    case .null: break
    case .integer(let value): text.append(integer: value)
    case .real(let value): text.append("\(value)")
    case .text(let value), .bytes(let value): text.append(shown: value)
    }
    // Without it, columns would shift for `awk` and the like.
    if text.bytes.isEmpty { text.append(UInt8(ascii: "-")) }
    return switch value {
    case .integer, .real: (text.bytes, true)
    default: (text.bytes, false)
    }
  }
}
