import Administration
import Bytes
import ResponseStorage

/// Renders a list with a line for each response and a delimiter between cells.
struct DelimitedRenderer: LineRenderer {
  /// The delimiter and the escaping of cells.
  enum Dialect: Sendable {
    /// Comma-separated values (RFC 4180, but with Unix line ends).
    case csv
    /// Tab-separated values. Cells never contain a tab, a line end or a backslash.
    case tsv

    fileprivate var delimiter: UInt8 {
      switch self {
      case .csv: UInt8(ascii: ",")
      case .tsv: UInt8(ascii: "\t")
      }
    }
  }

  private let dialect: Dialect
  private let columns: [EntryField]
  private let cells: CellReader
  private let now: Timestamp

  init(
    _ dialect: Dialect, columns: [EntryField], secrets: SecretPolicy, context: EntryContext
  ) {
    self.dialect = dialect
    self.columns = columns
    cells = CellReader(columns, secrets: secrets, reader: .programs, context: context)
    now = context.now
  }

  mutating func begin(into buffer: inout TextBuffer) {
    for (index, column) in columns.enumerated() {
      if index > 0 { buffer.append(dialect.delimiter) }
      // The same names as in JSON, so that a program can change between the formats.
      append(column.jsonName.bytes, to: &buffer)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    // Iterating over the array would retain it, and threads that share it would contend for its reference count.
    let columns = columns.span
    for index in columns.indices {
      if index > 0 { buffer.append(dialect.delimiter) }
      append(cells.value(at: index, in: response), to: &buffer)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}

  /// Appends a cell; nothing if the value is unknown.
  private func append(_ value: EntryField.Value?, to buffer: inout TextBuffer) {
    switch value {
    case nil: break
    case .integer(let value), .percent(let value, _): buffer.append(integer: value)
    case .byteCount(let count): buffer.append(plain: count)
    case .text(let text), .url(let text), .urlPart(_, let text), .fileName(let text):
      append(text.bytes, to: &buffer)
    case .word(let word): buffer.append(word)
    case .freshness(let state): if let state { buffer.append(state.rawValue) }
    case .time(let time): buffer.append(time: time)
    case .age(let time): buffer.append(integer: now.wholeSeconds - time.wholeSeconds)
    case .duration(let seconds): buffer.append(integer: seconds)
    case .remainingLifetime(let seconds): if let seconds { buffer.append(integer: seconds) }
    case .texts(let texts): buffer.append(words: texts, orElse: "none")
    case .headers(let headers): append(headers.joined, to: &buffer)
    case .notes(let notes): buffer.append(codesOf: notes)
    case .property(_, let value): append(value.text, to: &buffer)
    case .properties(let properties): append(properties.text, to: &buffer)
    }
  }

  private func append(_ cell: [UInt8], to buffer: inout TextBuffer) {
    switch dialect {
    // With Unix line ends: tools such as `cut` and `awk` would keep the carriage return of RFC 4180
    // in the last column.
    case .csv: buffer.append(csv: cell)
    case .tsv: buffer.append(tsv: cell)
    }
  }
}

extension TextBuffer {
  /// Appends words separated by spaces, or another word if there are none.
  mutating func append(words: [ByteString], orElse empty: String) {
    if words.isEmpty { append(empty) }
    append(shown: Array(words.map(\.bytes).joined(separator: [UInt8(ascii: " ")])))
  }

  /// Appends the codes of notes, separated by spaces.
  mutating func append(codesOf notes: [StoredResponse.Note]) {
    var isFirst = true
    for note in notes {
      if !isFirst { append(UInt8(ascii: " ")) }
      isFirst = false
      append(note.code.rawValue)
    }
  }

  /// Whether a spreadsheet treats a cell that begins with this byte as a formula. A cache may contain hostile formulas.
  private static func beginsFormula(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D:
      true
    default: false
    }
  }

  /// Appends a tab-separated cell, protected from evaluation as a formula.
  mutating func append(tsv cell: [UInt8]) {
    // A leading apostrophe makes a spreadsheet treat the cell as text.
    if cell.first.map(Self.beginsFormula) ?? false { append(UInt8(ascii: "'")) }
    // The backslash is escaped, so that whatever a reader unescapes gives the same text for every
    // cell.
    append(shown: cell, alsoEscaping: UInt8(ascii: "\\"))
  }

  /// Appends a comma-separated cell, protected from evaluation as a formula.
  mutating func append(csv cell: [UInt8]) {
    guard let first = cell.first, let last = cell.last else { return }
    // Spreadsheets evaluate formulas in CSV files when they open them, and a URL or a header field
    // may be one on purpose.
    let isFormula = Self.beginsFormula(first)
    let (space, quote) = (UInt8(ascii: " "), UInt8(ascii: "\""))
    // Most cells are plain, and are copied at once.
    if !isFormula, first != space, last != space,
      PrintableASCII.isAll(of: cell.span, but: quote, UInt8(ascii: ","))
    {
      append(contentsOf: cell)
      return
    }
    let isQuoted =
      first == space || last == space
      || cell.contains { $0 == quote || $0 == UInt8(ascii: ",") || $0 == 0x0A || $0 == 0x0D }
    if isQuoted { append(quote) }
    // A leading apostrophe makes a spreadsheet treat the cell as text.
    if isFormula { append(UInt8(ascii: "'")) }
    if cell.contains(quote) {
      // RFC 4180 doubles quotes in a quoted cell.
      var doubled: [UInt8] = []
      for byte in cell {
        if byte == quote { doubled.append(quote) }
        doubled.append(byte)
      }
      append(shown: doubled)
    } else {
      append(shown: cell)
    }
    if isQuoted { append(quote) }
  }
}

extension HeaderFields {
  /// The fields as `Name: value; Name: value`.
  var joined: [UInt8] {
    var result: [UInt8] = []
    for (index, field) in fields.enumerated() {
      if index > 0 { result.append(contentsOf: "; ".utf8) }
      result.append(contentsOf: field.name.bytes)
      result.append(contentsOf: ": ".utf8)
      result.append(contentsOf: field.value.bytes)
    }
    return result
  }
}
