public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders the rows of a query.
public struct QueryRenderer: Sendable {
  private let format: QueryFormat
  private let columns: [String]
  private var table: QueryTable
  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  ///
  /// - Parameter columns: The names of the columns.
  public init(_ format: QueryFormat, columns: [String]) {
    self.format = format
    self.columns = columns
    table = QueryTable(columns: columns)
  }

  /// Appends the text before the first row.
  public mutating func begin(into buffer: inout TextBuffer) {
    switch format {
    case .table, .ndjson: break
    case .json: json.begin("rows", in: &buffer.bytes) { $0.member(schema: "query") }
    case .csv, .tsv:
      appendLine(columns.map { .text(Array($0.utf8)) }, into: &buffer)
    }
  }

  /// Appends a row, or keeps it until the column widths are known.
  public mutating func render(_ row: [DatabaseValue], into buffer: inout TextBuffer) {
    switch format {
    case .table: table.append(row, into: &buffer)
    case .json:
      let columns = columns
      json.append(to: &buffer.bytes) { Self.append(row, columns, to: &$0) }
    case .ndjson:
      buffer.writeJSON { json in
        Self.append(row, columns, to: &json)
        json.endLine()
      }
    case .csv, .tsv: appendLine(row, into: &buffer)
    }
  }

  /// Appends the text after the last row.
  public mutating func finish(into buffer: inout TextBuffer) {
    switch format {
    case .table: table.finish(into: &buffer)
    case .json: json.end(in: &buffer.bytes)
    case .ndjson, .csv, .tsv: break
    }
  }

  private static func append(
    _ row: [DatabaseValue], _ columns: [String], to json: inout JSONWriter
  ) {
    json.object { json in
      for (name, value) in zip(columns, row) {
        json.key(named: name)
        switch value {
        case .null: json.null()
        case .integer(let value): json.value(value)
        case .real(let value): json.value(value)
        case .text(let text): json.utf8OrBase64(text)
        case .bytes(let bytes): json.object { $0.base64Member(bytes) }
        }
      }
    }
  }

  private func appendLine(_ row: [DatabaseValue], into buffer: inout TextBuffer) {
    for (index, value) in row.enumerated() {
      if index > 0 { buffer.append(format == .csv ? UInt8(ascii: ",") : UInt8(ascii: "\t")) }
      switch value {
      case .null: break
      case .integer(let value): buffer.append(integer: value)
      case .real(let value): buffer.append("\(value)")
      case .text(let text), .bytes(let text):
        if format == .csv { buffer.append(csv: text) } else { buffer.append(tsv: text) }
      }
    }
    buffer.append(UInt8(ascii: "\n"))
  }
}

/// The formats of the rows of a query.
public enum QueryFormat: String, Hashable, Sendable, CaseIterable {
  case table
  case json
  case ndjson
  case csv
  case tsv

  /// Whether each column needs a name of its own.
  public var needsUniqueNames: Bool { self == .json || self == .ndjson }
}

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

/// Reads the columns of a list as values of a table in SQL.
///
/// They are the values of the JSON formats; what is an array or an object there is its text here.
public struct ColumnReader: Sendable {
  private let secrets: SecretPolicy
  private let context: EntryContext
  private let cells: CellReader
  private let now: Timestamp

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - columns: The columns that are read.
  ///   - secrets: Which secrets the values may contain.
  ///   - context: What else is known of the entries.
  public init(_ columns: [EntryField] = [], secrets: SecretPolicy, context: EntryContext) {
    self.context = context
    self.secrets = secrets
    now = context.now
    cells = CellReader(columns, secrets: secrets, reader: .programs, context: context)
  }

  /// Returns a reader of some columns.
  public func reading(_ columns: [EntryField]) -> ColumnReader {
    ColumnReader(columns, secrets: secrets, context: context)
  }

  /// Returns the value of a column.
  public func value(
    at column: Int, in response: borrowing StoredResponse
  ) -> DatabaseValue {
    switch cells.value(at: column, in: response) {
    case nil: .null
    case .integer(let value), .percent(let value, _), .duration(let value): .integer(value)
    case .byteCount(let count): .integer(count.bytes)
    case .text(let text), .url(let text), .urlPart(_, let text), .fileName(let text):
      DatabaseValue(text: text.bytes)
    case .word(let word): .text(Array(word.utf8))
    case .freshness(let state): state.map { .text(Array($0.rawValue.utf8)) } ?? .null
    case .time(let time): Self.text { $0.append(time: time) }
    case .age(let time): .integer(now.wholeSeconds - time.wholeSeconds)
    case .remainingLifetime(let seconds): seconds.map { .integer($0) } ?? .null
    case .texts(let texts): Self.json { $0.value(texts.compactMap(\.string)) }
    case .headers(let headers): Self.json { $0.value(headers) }
    case .notes(let notes): Self.json { $0.value(notes) }
    case .property(_, let value): Self.value(value)
    case .properties(let properties): Self.json { $0.properties(properties) }
    }
  }

  /// Returns header fields with the values of secret fields masked.
  public func masked(_ headers: HeaderFields) -> HeaderFields { secrets.headers(headers) }

  /// Returns the key and the value of each property, the values of secret keys masked.
  public func values(
    of properties: [StoredResponse.Property]
  ) -> [(key: DatabaseValue, value: DatabaseValue)] {
    secrets.properties(properties).map { property in
      (DatabaseValue(text: property.key.bytes), Self.value(property.value))
    }
  }

  /// Returns a property as a plain value if SQL has one like it, otherwise as JSON.
  private static func value(_ value: StoredResponse.PropertyValue) -> DatabaseValue {
    switch value {
    case .null: .null
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .date(let time): text { $0.append(time: time) }
    case .data(let bytes): .bytes(bytes)
    case .text(let text): DatabaseValue(text: text.bytes)
    case .array, .dictionary, .opaque: json { $0.value(value) }
    }
  }

  private static func text(_ write: (inout TextBuffer) -> Void) -> DatabaseValue {
    var buffer = TextBuffer()
    write(&buffer)
    return .text(buffer.bytes)
  }

  private static func json(_ write: (inout JSONWriter) -> Void) -> DatabaseValue {
    var buffer = TextBuffer()
    buffer.writeJSON(write)
    return .text(buffer.bytes)
  }
}

/// A value of a table in SQL.
public enum DatabaseValue: Hashable, Sendable {
  /// No value: it is unknown, or there is none.
  case null
  case integer(Int64)
  case real(Double)
  /// UTF-8.
  case text([UInt8])
  /// Bytes, also of a text that is not UTF-8.
  case bytes([UInt8])

  /// Creates a value from text of a cache, which may be any bytes.
  public init(text: [UInt8]) {
    // Databases tell text from bytes, and readers of text fail at what is not UTF-8.
    self = text.isUTF8 ? .text(text) : .bytes(text)
  }
}

extension [UInt8] {
  /// Whether the bytes are UTF-8.
  ///
  /// - Complexity: O(*n*)
  var isUTF8: Bool {
    if PrintableASCII.isAll(of: span) { return true }
    var index = 0
    while index < count {
      let (scalar, length) = scalar(at: index)
      if scalar == nil { return false }
      index += length
    }
    return true
  }
}
