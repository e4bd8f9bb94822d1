import Files
import SQLite
import SQLitePages

/// The check of a large database: `quick_check`, or `integrity_check` in parts on two threads with a connection each.
///
/// A check of one table compares it with its indexes, which takes most of the time, but does not find out whether each
/// page belongs to one tree or to the free list. `quick_check` of the whole database does, so together they find
/// everything that `integrity_check` finds.
struct AppleDatabaseCheck {
  /// A table to compare with its indexes.
  struct Table: Sendable {
    /// The name, in quotes.
    let name: String
    /// A faster comparison, which can only show that both are right, and only if `quick_check` finds nothing.
    let comparison: AppleIndexCheck?
  }

  private struct Answers: Sendable {
    var rows: [String] = []
    var failure: SQLiteError?
    /// A query that was spared, unless another part finds damage.
    var spared: String?
  }

  private let database: String

  private let answers: [Channel<Answers>]
  /// The number of parts that have not ended.
  private let rest: Monitor<Int>

  /// Starts a check.
  ///
  /// - Parameters:
  ///   - database: The path of a database that no process changes.
  ///   - fully: Whether to run `integrity_check`.
  ///   - tables: Its tables; `nil` to check everything at once.
  init(of database: String, fully: Bool, tables: [Table]?) {
    let first = fully && tables == nil ? "PRAGMA integrity_check" : "PRAGMA quick_check"
    let work: [@Sendable () -> Answers] =
      [{ Self.answers(to: first, database) }]
      + (tables ?? []).map { table in { Self.answers(on: table, database) } }
    let answers = work.map { _ in Channel<Answers>() }
    let parts: [@Sendable () -> Void] = zip(work, answers).map { work, channel in
      { channel.send(work()) }
    }
    self.database = database
    (self.answers, rest) = (answers, Monitor(parts.count))
    start(parts)
  }

  private func start(_ parts: [@Sendable () -> Void]) {
    let waiting = Channel<@Sendable () -> Void>()
    for part in parts { waiting.send(part) }
    waiting.close()
    let rest = rest
    for _ in 0..<min(2, parts.count) {
      BackgroundThread.start("AppleDatabaseCheck") {
        while let part = waiting.receive() {
          part()
          rest.update { $0 -= 1 }
        }
      }
    }
  }

  /// Waits until no thread reads the database.
  func waitForEnd() { rest.wait(until: { $0 == 0 }) { _ in } }

  /// Calls `body` with each answer, in the order of the tables, the first time; waits for them.
  func forEachAnswer(_ body: (String) throws -> Void) throws {
    // Wait for all before reporting: an error must not leave a thread that reads a cache which may be closed.
    waitForEnd()
    var all = answers.compactMap { channel in
      channel.close()
      return channel.receive()
    }
    if let first = all.first, first.failure != nil || first.rows != ["ok"] {
      all = all.map { part in part.spared.map { Self.answers(to: $0, database) } ?? part }
    }
    for part in all {
      for row in part.rows { try body(row) }
    }
    // Only now: a part that ends at a damaged page must not hide what the others found.
    for part in all {
      if let failure = part.failure { throw failure }
    }
  }

  private static func answers(on table: Table, _ database: String) -> Answers {
    let query = "PRAGMA integrity_check(\(table.name))"
    guard table.comparison?.isRight(in: database) == true else {
      return answers(to: query, database)
    }
    return Answers(spared: query)
  }

  private static func answers(to query: String, _ database: String) -> Answers {
    var result = Answers()
    do throws(SQLiteError) {
      let connection = try Connection(path: database, access: .immutable)
      var rows = try connection.prepare(query)
      while try rows.step() {
        result.rows.append(String(decoding: rows.bytes(at: 0), as: UTF8.self))
      }
    } catch {
      result.failure = error
    }
    return result
  }

  /// Returns all tables, the largest of Apple's first; `nil` if the check cannot be divided.
  static func tables(
    of database: String, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [Table]? {
    // SQLite accepts the name of a table since 3.33, and takes it for a number of errors before.
    let version = Connection.libraryVersion.utf8.split(separator: UInt8(ascii: "."))
      .compactMap { Int(String(decoding: Array($0), as: UTF8.self)) }
    guard version.count > 1, (version[0], version[1]) >= (3, 33) else { return nil }
    let header = try? PageFile(database).file.read(DatabaseHeader.length, at: 0)
    var tables: [Table] = []
    var rows = try connection.prepare(
      "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' ORDER BY name = ?1 DESC, name")
    // It has most indexes, so its check takes longest.
    try rows.bind(text: Array(AppleLayout.responses.utf8), at: 1)
    while try rows.step() {
      let name = rows.bytes(at: 0)
      // Each check searches the whole schema, which can be large in a hostile database.
      guard tables.count < 100, let name = String(validating: name, as: UTF8.self) else {
        return nil
      }
      let quoted =
        "\""
        + name.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        .map { String(decoding: Array($0), as: UTF8.self) }.joined(separator: "\"\"") + "\""
      var comparison: AppleIndexCheck?
      if let header = header.flatMap({ DatabaseHeader($0.span) }),
        let root = UInt32(exactly: rows.integer(at: 1)), root > 0
      {
        // The check itself meets whatever is wrong with the schema.
        comparison = (try? AppleIndexCheck(of: quoted, root: root, header, connection)) ?? nil
      }
      tables.append(Table(name: quoted, comparison: comparison))
    }
    return tables
  }
}
