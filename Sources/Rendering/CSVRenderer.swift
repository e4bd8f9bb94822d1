import ResponseStorage

/// A list as comma-separated values (RFC 4180, but with the line ends of Unix).
struct CSVRenderer: ResponseRenderer {
  private let columns: [Column]
  private let cells: CellReader
  private let now: Timestamp

  init(columns: [Column], secrets: SecretPolicy, now: Timestamp) {
    self.columns = columns
    cells = CellReader(secrets: secrets, reader: .programs)
    self.now = now
  }

  mutating func begin(into buffer: inout TextBuffer) {
    for (index, column) in columns.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(column.jsonKey)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func render(_ response: borrowing StoredResponse, into buffer: inout TextBuffer) {
    var isFirst = true
    for column in columns {
      if !isFirst { buffer.append(UInt8(ascii: ",")) }
      isFirst = false
      let value = cells.value(of: column, in: response)
      buffer.append(delimited: value, now: now) { $0.append(csv: $1) }
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  mutating func finish(summary: ListSummary, into buffer: inout TextBuffer) {}
}

extension TextBuffer {
  /// Appends a cell of a format that separates cells by a character; nothing for what is unknown.
  @inline(__always)
  mutating func append(
    delimited value: CellValue, now: Timestamp,
    escape: (inout TextBuffer, [UInt8]) -> Void
  ) {
    switch value {
    case .unknown: break
    case .integer(let value), .byteCount(let value): append(integer: value)
    case .text(let text): escape(&self, text.bytes)
    case .word(let word): append(word)
    case .time(let time): append(time: time)
    case .age(let time): append(integer: now.wholeSeconds - time.wholeSeconds)
    case .headers(let headers): escape(&self, headers.joined)
    case .notes(let notes): append(codesOf: notes)
    }
  }

  /// Appends the codes of notes, with spaces between them.
  mutating func append(codesOf notes: [StoredResponse.Note]) {
    var isFirst = true
    for note in notes {
      if !isFirst { append(UInt8(ascii: " ")) }
      isFirst = false
      append(note.code.rawValue)
    }
  }

  /// Appends a cell of comma-separated values that a spreadsheet does not take for a formula.
  mutating func append(csv cell: [UInt8]) {
    // No early exit, so that the loop is vectorised.
    var special: UInt8 = 0
    for byte in cell {
      special |= (byte &- 0x20) >= 0x5F ? 1 : 0
      special |= byte == UInt8(ascii: ",") ? 1 : 0
      special |= byte == UInt8(ascii: "\"") ? 1 : 0
    }
    guard let first = cell.first, let last = cell.last else { return }
    let isFormula =
      switch first {
      case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D:
        true
      default: false
      }
    let space = UInt8(ascii: " ")
    if special == 0, !isFormula, first != space, last != space {
      append(contentsOf: cell)
      return
    }
    let quote = UInt8(ascii: "\"")
    let isQuoted =
      first == space || last == space
      || cell.contains { $0 == quote || $0 == UInt8(ascii: ",") || $0 == 0x0A || $0 == 0x0D }
    if isQuoted { append(quote) }
    if isFormula { append(UInt8(ascii: "'")) }
    if cell.contains(quote) {
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
