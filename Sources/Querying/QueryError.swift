import SQLite

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
