import Administration
import Bytes
import HTTPCaching
import Rendering
public import ResponseStorage

/// Rows of the tables, made of entries on any thread.
///
/// The threads that read the cache decode the values, and one thread inserts them.
public struct EntryRows: ResponseTally {
  /// The number of rows and of bytes after which the rows are inserted.
  private static let (mostRows, mostBytes) = (2_048, 1 << 18)

  /// The parts of a response to decode.
  let projection: Projection

  private let reader: ColumnReader
  private let idReader: ColumnReader
  private let check: EntryCheck
  /// The columns of entries, and the other tables, that are filled.
  private let columns: [EntryField]
  private let tables: Set<EntryTable>
  /// Whether entries are filled, and whether other tables are: asking the set for each entry takes noticeably longer.
  private let (fillsEntries, fillsOthers): (Bool, Bool)

  /// The rows that were not inserted.
  private(set) var rows = RowBuffer()
  /// The number of entries that they were made of.
  public private(set) var entries: Int64 = 0

  public var isFull: Bool { rows.tables.count >= Self.mostRows || rows.byteCount >= Self.mostBytes }

  /// - Parameters:
  ///   - columns: The columns to fill in the table of entries.
  ///   - tables: The tables to fill.
  init(columns: [EntryField], tables: Set<EntryTable>, reader: ColumnReader, check: EntryCheck) {
    (self.columns, self.tables) = (columns, tables)
    (fillsEntries, fillsOthers) = (tables.contains(.entries), tables.contains { $0 != .entries })
    (self.reader, self.idReader) = (reader.reading(columns), reader.reading(["id"]))
    self.check = check
    projection = tables.reduce(into: []) { result, table in
      result.formUnion(table == .entries ? columns.projection : table.projection)
    }
  }

  /// Removes the rows.
  mutating func removeAll() {
    rows.removeAll()
    entries = 0
  }

  public mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    if fillsEntries {
      // Iterating over the array would retain it, and threads that share it would contend for its reference count.
      for index in columns.indices { rows.append(reader.value(at: index, in: response)) }
      rows.endRow(of: .entries)
    }
    guard fillsOthers else { return }
    let id = idReader.value(at: 0, in: response)
    if tables.contains(.headers) || tables.contains(.directives) {
      insert(response.request.headers, .text("request"), id)
      insert(response.responseHeaders, .text("response"), id)
    }
    if tables.contains(.userInfo) {
      for (key, value) in reader.values(of: response.userInfo) {
        rows.append(row: [id, key, value], of: .userInfo)
      }
    }
    if tables.contains(.findings) {
      for finding in check.findings(on: response) {
        let code = finding.code
        rows.append(
          row: [
            id, .text(code.name), .text(code.severity.rawValue), .text(finding.message),
            .text(code.meaning), code.repair.map { .text($0.rawValue) } ?? .null,
          ], of: .findings)
      }
    }
  }

  /// Inserts the header fields of a message and their directives.
  private mutating func insert(
    _ fields: HeaderFields?, _ side: DatabaseValue, _ id: DatabaseValue
  ) {
    guard let fields else { return }
    if tables.contains(.headers) {
      for (index, field) in reader.masked(fields).fields.enumerated() {
        rows.append(
          row: [
            id, side, DatabaseValue(text: field.name.bytes), DatabaseValue(text: field.value.bytes),
            .integer(Int64(index + 1)),
          ], of: .headers)
      }
    }
    guard tables.contains(.directives) else { return }
    let control = CacheControl(FieldSection(fields))
    for directive in control.directives {
      let argument: [UInt8]? =
        switch directive.argument {
        case .token(let text)?, .quoted(let text)?, .malformed(let text)?: text
        case nil: nil
        }
      rows.append(
        row: [
          id, side, .text(directive.name.rawValue),
          argument.map(DatabaseValue.init(text:)) ?? .null, .integer(1),
        ], of: .directives)
    }
    for text in control.unknown {
      let name = text.prefix { $0 != UInt8(ascii: "=") }
      let argument: DatabaseValue =
        name.count < text.count ? DatabaseValue(text: Array(text[(name.count + 1)...])) : .null
      rows.append(
        row: [id, side, DatabaseValue(text: Array(name)), argument, .integer(0)], of: .directives)
    }
  }
}

extension DatabaseValue {
  /// Creates text of a word of this tool.
  fileprivate static func text(_ word: String) -> DatabaseValue { .text(Array(word.utf8)) }
}
