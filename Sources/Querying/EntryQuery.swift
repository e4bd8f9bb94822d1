public import Administration
import Bytes
public import Rendering
public import ResponseStorage
import SQLite

/// A query in SQL about the entries of a cache.
///
/// The entries are copied into a temporary database, with only the columns that the query reads; SQLite does the rest.
/// The cache itself is never opened by the query, so nothing in its text can change or block the cache.
public struct EntryQuery: EntryRowTarget, ~Copyable {
  /// The names of the columns of the result.
  public let columns: [String]

  private let connection: Connection
  private let sql: String
  private let parameters: [DatabaseValue]
  private var tables: EntryTables

  /// Prepares a query.
  ///
  /// - Parameters:
  ///   - sql: One statement that only reads.
  ///   - parameters: The values of its parameters, by name without the first character.
  ///   - reader: Reads the columns of entries.
  ///   - check: The checks for the table of findings.
  /// - Throws: ``QueryError``
  public init(
    _ sql: String, parameters: [String: DatabaseValue], reader: ColumnReader, check: EntryCheck
  ) throws(QueryError) {
    let connection = try QueryError.translating { () throws(SQLiteError) in
      try Connection.temporary()
    }
    try QueryError.translating { () throws(SQLiteError) in
      for table in EntryTable.allCases { try connection.execute(table.creation) }
    }
    let read: Set<ReadColumn>
    do throws(ReadingRefusal) {
      read = EntryTable.columnsRead(try connection.columnsRead(by: sql), by: sql)
    } catch {
      throw QueryError(error)
    }
    // Before the cache is read, which can take long, so that a mistake is reported at once.
    let (columns, names) = try QueryError.translating { () throws(SQLiteError) in
      let statement = try connection.prepare(sql)
      return (
        (0..<statement.columnCount).map { statement.name(ofColumn: $0) },
        (0..<statement.parameterCount).map { statement.name(ofParameter: $0 + 1) }
      )
    }
    let values = try Self.values(of: names, parameters)
    let tables = try QueryError.translating { () throws(SQLiteError) in
      for statement in EntryTable.reduction(to: read, for: sql) {
        try connection.execute(statement)
      }
      // One transaction for all rows.
      try connection.execute("BEGIN")
      return try EntryTables(in: connection, read: read, reader: reader, check: check)
    }
    (self.sql, self.columns, self.parameters) = (sql, columns, values)
    self.connection = connection
    self.tables = tables
  }

  /// The parts of a response to decode.
  public var projection: Projection { tables.emptyRows.projection }

  /// No rows, to be filled with those of entries.
  public var emptyRows: EntryRows { tables.emptyRows }

  /// Adds rows, and removes them from `rows`.
  public mutating func insert(_ rows: inout EntryRows) throws(QueryError) {
    try QueryError.translating { () throws(SQLiteError) in try tables.insert(&rows) }
  }

  /// Adds the rows of an entry to the tables.
  public mutating func insert(_ response: borrowing StoredResponse) throws(QueryError) {
    try QueryError.translating { () throws(SQLiteError) in try tables.insert(response) }
  }

  /// Runs the query on the entries that were inserted.
  ///
  /// - Parameters:
  ///   - milliseconds: The time after which the query is ended.
  ///   - shouldStop: Returns `true` to end the query; called every few microseconds.
  ///   - body: Called with each row.
  /// - Throws: ``QueryError``, or an error of `body`.
  public mutating func run(
    within milliseconds: Int64, unless shouldStop: () -> Bool,
    _ body: ([DatabaseValue]) throws -> Void
  ) throws {
    var failure: (any Error)?
    connection.interrupting(after: milliseconds, orWhen: shouldStop) {
      do { try run(body) } catch { failure = error }
    }
    guard let failure else { return }
    throw (failure as? SQLiteError).map { QueryError($0) } ?? failure
  }

  private func run(_ body: ([DatabaseValue]) throws -> Void) throws {
    try connection.execute("COMMIT")
    connection.restrictToReading()
    connection.limitFunctions()
    var statement = try connection.prepare(sql)
    for (index, value) in parameters.enumerated() {
      let parameter = Int32(index + 1)
      switch value {
      case .integer(let value): try statement.bind(integer: value, at: parameter)
      case .text(let text): try statement.bind(text: text, at: parameter)
      case .real(let value): try statement.bind(real: value, at: parameter)
      case .bytes(let bytes): try statement.bind(blob: bytes, at: parameter)
      case .null: try statement.bindNull(at: parameter)
      }
    }
    let count = statement.columnCount
    while try statement.step() {
      try body((0..<count).map { statement.value(at: $0) })
    }
  }

  /// Returns the values of parameters in their order.
  ///
  /// - Parameter names: The name of each parameter with its first character; `nil` if it has none.
  private static func values(
    of names: [String?], _ given: [String: DatabaseValue]
  ) throws(QueryError) -> [DatabaseValue] {
    var (values, unused): ([DatabaseValue], Set<String>) = ([], Set(given.keys))
    for name in names {
      guard let name, !name.utf8.starts(with: "?".utf8) else { throw .unnamedParameter }
      let key = String(decoding: name.utf8.dropFirst(), as: UTF8.self)
      guard let value = given[key] else { throw .missingParameter(key) }
      values.append(value)
      unused.remove(key)
    }
    if let name = unused.min() { throw .unusedParameter(name) }
    return values
  }
}

extension Statement {
  /// Returns the value in a column of the current row.
  fileprivate func value(at column: Int32) -> DatabaseValue {
    switch type(at: column) {
    case .null: .null
    case .integer: .integer(integer(at: column))
    case .real: .real(real(at: column))
    // A function may have cut a text within a character.
    case .text: DatabaseValue(text: bytes(at: column))
    case .blob: .bytes(bytes(at: column))
    }
  }
}

/// Why a query has no result.
public enum QueryError: Error, Hashable, Sendable {
  /// The text has no statement.
  case empty
  /// The text has several statements.
  case severalStatements
  /// The statement does more than read; the words for what it does, such as `ATTACH`.
  case notReading(String)
  /// SQLite does not understand the statement; its message.
  case invalid(String)
  /// A parameter has no name.
  case unnamedParameter
  /// A parameter has no value; its name.
  case missingParameter(String)
  /// A value is given for a parameter that the query does not have; its name.
  case unusedParameter(String)
  /// The query was ended.
  case interrupted
  /// A value or the query needs too much memory; SQLite's message.
  case tooLarge(String)
  /// There is no room for the temporary tables.
  case noRoom
  /// Anything else; SQLite's message.
  case failed(String)

  /// Creates an error from one of compiling a query.
  init(_ refusal: ReadingRefusal) {
    self =
      switch refusal {
      case .empty: .empty
      case .severalStatements: .severalStatements
      case .action(let words): .notReading(words)
      case .invalid(let error): .invalid(error.message)
      }
  }

  /// Creates an error from one of running a query.
  init(_ error: SQLiteError) {
    self =
      switch error.kind {
      case .interrupted: .interrupted
      case .tooLarge: .tooLarge(error.message)
      case .noRoom: .noRoom
      default: .failed(error.message)
      }
  }
}

extension QueryError {
  /// Returns what `body` returns, and throws its error as one of a query.
  static func translating<Result: ~Copyable>(
    _ body: () throws(SQLiteError) -> Result
  ) throws(QueryError) -> Result {
    do throws(SQLiteError) { return try body() } catch { throw QueryError(error) }
  }
}

extension EntryQuery {
  /// Returns the names that a query can use, as a hint to a message of SQLite about a wrong one.
  public static func names(instead message: String) -> String {
    let tables = EntryTable.allCases.map(\.rawValue)
    if let name = word(after: "no such table: ", in: message) {
      return suggestion(name, tables) + "the tables are \(tables.joined(separator: ", "))"
    }
    guard let name = word(after: "no such column: ", in: message) else {
      return "see the tables and columns with 'urlcache-admin query --help'"
    }
    let table =
      EntryTable.allCases.first { name.utf8.starts(with: "\($0.rawValue).".utf8) } ?? .entries
    let columns = table.columns.map(\.name)
    // The name of a column follows that of its table, or an abbreviation for it.
    let column = name.utf8.split(separator: UInt8(ascii: ".")).last.flatMap { String($0) } ?? name
    return suggestion(column, columns)
      + "the columns of '\(table.rawValue)' are \(columns.joined(separator: ", "))"
  }

  private static func suggestion(_ name: String, _ names: [String]) -> String {
    Spelling.nearest(to: name, among: names).map { "did you mean '\($0)'? " } ?? ""
  }

  private static func word(after beginning: String, in message: String) -> String? {
    guard message.utf8.starts(with: beginning.utf8) else { return nil }
    return String(message.utf8.dropFirst(beginning.utf8.count))
  }
}
