import Bytes
import SQLite

extension Finding.Code {
  static let unknownSchema = Self(
    "unknown-schema", .warning, "CFNetwork would discard the cache and create a new one")
  static let unexpectedSchema = Self(
    "unexpected-schema", .warning, "CFNetwork does not check it, but it may make CFNetwork fail")
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
