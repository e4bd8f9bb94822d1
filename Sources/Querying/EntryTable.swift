import Administration
import Bytes
import Rendering
import ResponseStorage
import SQLite

/// A table about the entries of a cache.
enum EntryTable: String, CaseIterable {
  case entries
  case headers
  case findings
  case userInfo = "user_info"
  case directives

  /// A column of a table.
  struct Definition {
    /// The name, in snake case.
    let name: String
    /// The type and the collation in SQL.
    let type: String
  }

  /// The columns of the list that are columns of ``entries``, in their order.
  ///
  /// Sidecar files are left out: their folder is known to a list only.
  static let listColumns = EntryField.columns.filter { !$0.needsSidecars }

  /// The columns of all tables.
  static let allColumns = Set(
    allCases.flatMap { table in
      table.columns.map { ReadColumn(table: table.rawValue, column: $0.name) }
    })

  /// The columns, in their order.
  var columns: [Definition] {
    switch self {
    case .entries:
      Self.listColumns.map { column in
        Definition(name: column.databaseName, type: column.isInteger ? "INTEGER" : "TEXT")
      }
    case .headers: [.id, .side, .name, .text("value"), .position]
    case .findings:
      [
        .id, .text("code"), .text("severity"), .text("message"), .text("meaning"), .text("repair"),
      ]
    // Without a type, a number stays a number and a text stays a text.
    case .userInfo: [.id, .text("key"), Definition(name: "value", type: "")]
    case .directives:
      [.id, .side, .name, .text("argument"), Definition(name: "known", type: "INTEGER")]
    }
  }

  /// The parts of a response to decode for rows of this table.
  var projection: Projection {
    switch self {
    case .entries: []
    case .headers, .directives: [.requestHeaders, .responseHeaders]
    case .findings: EntryCheck.projection
    case .userInfo: .userInfo
    }
  }

  /// The statement that creates the table.
  var creation: String { creation(with: columns) }

  /// Returns the statement that creates the table with some of its columns.
  private func creation(with columns: [Definition]) -> String {
    let columns = columns.map { "\"\($0.name)\" \($0.type)" }
    return "CREATE TABLE \(rawValue)(\(columns.joined(separator: ", ")))"
  }

  /// Returns the columns that a query reads, of which SQLite names only some.
  ///
  /// - Parameter named: The columns that it names: not those of the second table of `NATURAL` or `USING`.
  static func columnsRead(_ named: Set<ReadColumn>, by sql: String) -> Set<ReadColumn> {
    guard contains(sql, anyOf: ["natural", "using"]) else { return named }
    return named.union(allColumns.filter { contains(sql, anyOf: [$0.table]) })
  }

  /// Whether a query contains one of some lower-case words, even in a string literal.
  private static func contains(_ sql: String, anyOf words: [String]) -> Bool {
    let sql = ByteString(sql).asciiLowercased.bytes
    return words.contains { sql.firstRange(of: Array($0.utf8)) != nil }
  }

  /// Returns the columns of ``entries`` that are filled if some are read: at least one, as rows can be counted.
  static func listColumns(read: Set<ReadColumn>) -> [EntryField] {
    let columns = listColumns.filter { column in
      read.contains(ReadColumn(table: Self.entries.rawValue, column: column.databaseName))
    }
    return columns.isEmpty ? ["id"] : columns
  }

  /// Returns the statements that leave ``entries`` only the columns that are filled: the others make each row longer.
  ///
  /// - Parameter sql: The query. One about the schema sees all columns.
  static func reduction(to read: Set<ReadColumn>, for sql: String) -> [String] {
    guard read.contains(where: { $0.table == Self.entries.rawValue }),
      !contains(sql, anyOf: ["sqlite_", "pragma_"])
    else { return [] }
    let names = Set(listColumns(read: read).map(\.databaseName))
    let columns = Self.entries.columns.filter { names.contains($0.name) }
    return ["DROP TABLE \(Self.entries.rawValue)", Self.entries.creation(with: columns)]
  }
}

extension EntryTable.Definition {
  // A number for an Apple cache. In a Foundation cache it is the name of a file, which stays text.
  fileprivate static let id = Self(name: "id", type: "INTEGER")
  fileprivate static let side = text("side")
  // Names of fields and directives have no case (RFC 9110 §5.1, RFC 9111 §5.2).
  fileprivate static let name = Self(name: "name", type: "TEXT COLLATE NOCASE")
  fileprivate static let position = Self(name: "position", type: "INTEGER")

  fileprivate static func text(_ name: String) -> Self { Self(name: name, type: "TEXT") }
}

extension EntryField {
  /// The name in SQL, which is that in JSON.
  var databaseName: String { jsonName.string ?? "" }

  fileprivate var isInteger: Bool {
    switch kind {
    case .id, .status, .size, .share, .age, .duration, .remaining: true
    default: false
    }
  }
}
