import Foundation
import Testing

@testable import SQLite

/// What holds for every connection of a kind.
@Suite struct ConnectionTests {
  /// Returns the first column of the first row.
  private static func number(_ sql: String, _ connection: borrowing Connection) throws -> Int64 {
    var rows = try connection.prepare(sql)
    return try rows.step() ? rows.integer(at: 0) : -1
  }

  @Test(arguments: [Connection.Access.create, .readWrite])
  func `what changes a database waits until the drive has stored it`(
    _ access: Connection.Access
  ) throws {
    let path = NSTemporaryDirectory() + "ConnectionTests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Connection(path: path, access: .create).execute("CREATE TABLE a(id)")
    let connection = try Connection(path: path, access: access)
    #expect(try Self.number("PRAGMA fullfsync", connection) == 1)
    #expect(try Self.number("PRAGMA checkpoint_fullfsync", connection) == 1)
    if access == .readWrite { #expect(try Self.number("PRAGMA synchronous", connection) == 3) }
  }

  @Test func `a statement that needs more memory than the limit fails`() throws {
    let connection = try Connection.temporary()
    // Ten values of 30 MB at the same time.
    let values = Array(repeating: "CAST(zeroblob(30000000) AS TEXT)", count: 10)
    let error = #expect(throws: SQLiteError.self) {
      _ = try Self.number("SELECT \(values.joined(separator: ", "))", connection)
    }
    #expect(error?.kind == .tooLarge)
    #expect(try Self.number("SELECT 1", connection) == 1)
  }
}
