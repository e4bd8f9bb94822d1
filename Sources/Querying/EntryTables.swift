import Administration
import Bytes
import HTTPCaching
import Rendering
import ResponseStorage
import SQLite

/// Fills tables with decoded entries: only the columns that are read.
struct EntryTables: ~Copyable {
  /// The parts of a response to decode.
  let projection: Projection

  private let reader: ColumnReader
  private let check: EntryCheck
  /// The columns to fill in the table of entries.
  private let columns: [Column]
  private var entries: RowInserter?
  private var headers: RowInserter?
  private var findings: RowInserter?
  private var userInfo: RowInserter?
  private var directives: RowInserter?

  /// Prepares to fill tables that have been created in a database.
  ///
  /// - Parameter read: The columns that are read.
  init(
    in connection: borrowing Connection, read: Set<ReadColumn>, reader: ColumnReader,
    check: EntryCheck
  ) throws(SQLiteError) {
    (self.reader, self.check) = (reader, check)
    let columns: [Column] = EntryTable.listColumns.filter { column in
      // Always with the id: SQLite does not name the column of the second table of `USING`.
      column == .id
        || read.contains(
          ReadColumn(table: EntryTable.entries.rawValue, column: column.databaseName))
    }
    self.columns = columns
    let tables = Set(read.map(\.table))
    var projection: Projection = []
    for table in EntryTable.allCases where tables.contains(table.rawValue) {
      projection.formUnion(table == .entries ? columns.projection : table.projection)
      let names = table == .entries ? columns.map(\.databaseName) : table.columns.map(\.name)
      let inserter = try RowInserter(into: table, columns: names, of: connection)
      switch table {
      case .entries: entries = consume inserter
      case .headers: headers = consume inserter
      case .findings: findings = consume inserter
      case .userInfo: userInfo = consume inserter
      case .directives: directives = consume inserter
      }
    }
    self.projection = projection
  }

  /// Inserts the rows of an entry.
  mutating func insert(_ response: borrowing StoredResponse) throws(SQLiteError) {
    if entries != nil {
      for index in columns.indices {
        try entries?.set(reader.value(of: columns[index], in: response), at: index)
      }
      try entries?.insert()
    }
    let id = reader.value(of: .id, in: response)
    if headers != nil || directives != nil {
      try insert(response.request.headers, .text("request"), id)
      try insert(response.responseHeaders, .text("response"), id)
    }
    if userInfo != nil {
      for (key, value) in reader.values(of: response.userInfo) {
        try userInfo?.insert([id, key, value])
      }
    }
    if findings != nil {
      for finding in check.findings(on: response) {
        let code = finding.code
        try findings?.insert([
          id, .text(code.name), .text(code.severity.rawValue), .text(finding.message),
          .text(code.meaning), code.repair.map { .text($0.rawValue) } ?? .null,
        ])
      }
    }
  }

  /// Inserts the header fields of a message and their directives.
  private mutating func insert(
    _ fields: HeaderFields?, _ side: DatabaseValue, _ id: DatabaseValue
  ) throws(SQLiteError) {
    guard let fields else { return }
    if headers != nil {
      for (index, field) in reader.masked(fields).fields.enumerated() {
        try headers?.insert([
          id, side, DatabaseValue(text: field.name.bytes), DatabaseValue(text: field.value.bytes),
          .integer(Int64(index + 1)),
        ])
      }
    }
    guard directives != nil else { return }
    let control = CacheControl(FieldSection(fields))
    for directive in control.directives {
      let argument: [UInt8]? =
        switch directive.argument {
        case .token(let text)?, .quoted(let text)?, .malformed(let text)?: text
        case nil: nil
        }
      try directives?.insert([
        id, side, .text(directive.name.rawValue), argument.map(DatabaseValue.init(text:)) ?? .null,
        .integer(1),
      ])
    }
    for text in control.unknown {
      let name = text.prefix { $0 != UInt8(ascii: "=") }
      let argument: DatabaseValue =
        name.count < text.count ? DatabaseValue(text: Array(text[(name.count + 1)...])) : .null
      try directives?.insert([id, side, DatabaseValue(text: Array(name)), argument, .integer(0)])
    }
  }
}

extension DatabaseValue {
  /// Creates text of a word of this tool.
  fileprivate static func text(_ word: String) -> DatabaseValue { .text(Array(word.utf8)) }
}
