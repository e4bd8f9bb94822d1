import Files
import SQLite

/// The check of a large database: `quick_check`, or `integrity_check` in parts on two threads with a connection each.
///
/// A check of one table compares it with its indexes, which takes most of the time, but does not find out whether each
/// page belongs to one tree or to the free list. `quick_check` of the whole database does, so together they find
/// everything that `integrity_check` finds.
struct AppleDatabaseCheck {
  private typealias Answers = (rows: [String], failure: SQLiteError?)

  private let answers: [Channel<Answers>]

  /// Starts a `quick_check`.
  ///
  /// - Parameter database: The path of a database that no process changes.
  init(quickly database: String) {
    self.init(of: database, queries: ["PRAGMA quick_check"])
  }

  /// Starts an `integrity_check`.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - tables: The names of its tables; `nil` to check everything at once.
  init(of database: String, tables: [String]?) {
    let queries =
      tables.map { tables in
        ["PRAGMA quick_check"] + tables.map { "PRAGMA integrity_check(\($0))" }
      } ?? ["PRAGMA integrity_check"]
    self.init(of: database, queries: queries)
  }

  private init(of database: String, queries: [String]) {
    let parts = Channel<(query: String, answers: Channel<Answers>)>()
    answers = queries.map { _ in Channel<Answers>() }
    for part in zip(queries, answers) { parts.send(part) }
    parts.close()
    for _ in 0..<min(2, queries.count) {
      BackgroundThread.start("AppleDatabaseCheck") {
        while let (query, answers) = parts.receive() {
          answers.send(Self.answers(to: query, database))
        }
      }
    }
  }

  /// Calls `body` with each answer, in the order of the tables.
  func forEachAnswer(_ body: (String) throws -> Void) throws {
    // Wait for all before reporting: an error must not leave a thread that reads a cache which may be closed.
    let all = answers.compactMap { $0.receive() }
    for (rows, _) in all {
      for row in rows { try body(row) }
    }
    // Only now: a part that ends at a damaged page must not hide what the others found.
    for (_, failure) in all {
      if let failure { throw failure }
    }
  }

  private static func answers(to query: String, _ database: String) -> Answers {
    var rows: [String] = []
    do throws(SQLiteError) {
      let connection = try Connection(path: database, access: .immutable)
      var answers = try connection.prepare(query)
      while try answers.step() {
        rows.append(String(decoding: answers.bytes(at: 0), as: UTF8.self))
      }
      return (rows, nil)
    } catch {
      return (rows, error)
    }
  }

  /// Returns the names of all tables in quotes, the largest of Apple's first; `nil` if the check cannot be divided.
  static func tables(of connection: borrowing Connection) throws(SQLiteError) -> [String]? {
    // SQLite accepts the name of a table since 3.33, and takes it for a number of errors before.
    let version = Connection.libraryVersion.utf8.split(separator: UInt8(ascii: "."))
      .compactMap { Int(String(decoding: Array($0), as: UTF8.self)) }
    guard version.count > 1, (version[0], version[1]) >= (3, 33) else { return nil }
    var names: [String] = []
    var rows = try connection.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name = ?1 DESC, name")
    // It has most indexes, so its check takes longest.
    try rows.bind(text: Array(AppleLayout.responses.utf8), at: 1)
    while try rows.step() {
      let name = rows.bytes(at: 0)
      // Each check searches the whole schema, which can be large in a hostile database.
      guard names.count < 100, let name = String(validating: name, as: UTF8.self) else {
        return nil
      }
      names.append(
        "\""
          + name.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
          .map { String(decoding: Array($0), as: UTF8.self) }.joined(separator: "\"\"") + "\"")
    }
    return names
  }
}
