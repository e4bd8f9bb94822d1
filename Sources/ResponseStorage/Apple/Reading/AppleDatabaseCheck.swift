import Bytes
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

extension Finding.Code {
  static let unknownSchema = Self(
    "unknown-schema", .warning, "CFNetwork would discard the cache and create a new one")
  static let unexpectedSchema = Self(
    "unexpected-schema", .warning, "CFNetwork does not notice this, but may fail because of it")
  static let trigger = Self(
    "trigger", .error,
    "it runs whenever the app writes; urlcache-admin does not change such a database")
}

/// A comparison of a database with the tables and indexes that CFNetwork creates for its version.
///
/// Versions with the same columns differ only in white space. Source: `apple-cache.md`, "Schemas", the text of
/// `sqlite_master` in 451 databases.
struct AppleSchemaCheck: ~Copyable {
  private static let knownVersions: Set<Int64> = [
    11, 12, 13, 25, 102, 104, 106, 201, 202, 203,
  ]

  private var rows: Statement
  private let version: Int64?

  init(_ connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    // SQLite makes the tables and indexes with this prefix itself, and no statement of anyone
    // else can.
    rows = try connection.prepare(
      """
      SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY type, name
      """)
    version = layout.schemaVersion
  }

  /// Calls `body` with each difference.
  consuming func run(_ body: (Finding) throws -> Void) throws {
    guard let version, Self.knownVersions.contains(version) else {
      let name = version.map { "its schema is \($0)" } ?? "its schema has no version"
      return try body(Finding(.unknownSchema, "\(name), which CFNetwork does not know"))
    }
    var expected = Self.statements(of: version)
    while try rows.step() {
      let type = String(decoding: rows.bytes(at: 0), as: UTF8.self)
      // The name of a hostile table can have any length, and goes into a message.
      let name = String(decoding: rows.bytes(at: 1).prefix(100), as: UTF8.self)
      if type == "trigger" {
        try body(Finding(.trigger, "the database has the trigger '\(name)'"))
      } else if let statement = expected.removeValue(forKey: name) {
        guard Self.normalized(rows.bytes(at: 2)) != statement else { continue }
        try body(
          Finding(.unexpectedSchema, "the \(type) '\(name)' differs from CFNetwork's"))
      } else {
        try body(Finding(.unexpectedSchema, "CFNetwork creates no \(type) '\(name)'"))
      }
    }
    for name in expected.keys.sorted() {
      try body(Finding(.unexpectedSchema, "'\(name)' is missing"))
    }
  }

  /// Returns the normalized statements that create the tables and indexes of a version, by their names.
  private static func statements(of version: Int64) -> [String: [UInt8]] {
    let schema = version < 203 ? AppleSchema.version202 : AppleSchema.version203
    var statements: [String: [UInt8]] = [:]
    for statement in schema.creationStatements {
      var text = normalized(Array(statement.utf8))
      // Older schemas are derived from the newest one, as the real ones differ in nothing but these
      // columns and white space.
      if version < 13 { text.remove(", partition text") }
      if version < 25 { text.remove(" isdataonfs integer,") }
      // CREATE TABLE name(… or CREATE INDEX name ON …
      let name = statement.split(whereSeparator: { $0 == " " || $0 == "(" })[2]
      statements[String(name)] = text
    }
    return statements
  }

  /// Returns the statement in lower case, with each run of white space as one space.
  private static func normalized(_ statement: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for byte in statement {
      let isSpace = byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
      if !isSpace {
        result.append(byte.asciiLowercased)
      } else if result.last != UInt8(ascii: " ") {
        result.append(UInt8(ascii: " "))
      }
    }
    return result
  }
}

extension [UInt8] {
  /// Removes the first occurrence of `text`.
  fileprivate mutating func remove(_ text: StaticString) {
    let text = ByteString(stringLiteral: text).bytes
    guard text.count <= count else { return }
    for start in 0...(count - text.count) where self[start..<(start + text.count)] == text[...] {
      removeSubrange(start..<(start + text.count))
      return
    }
  }
}
