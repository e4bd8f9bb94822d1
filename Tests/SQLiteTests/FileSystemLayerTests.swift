import Foundation
import Testing

@testable import SQLite

/// Databases that touch no files but their own.
@Suite struct FileSystemLayerTests {
  /// A folder with a database that a process left amid a transaction, and a file that is none of its own.
  private final class Crash {
    let folder = NSTemporaryDirectory() + "FileSystemLayerTests-\(UUID().uuidString)"
    var path: String { folder + "/a.db" }
    var victim: String { folder + "/victim" }

    init() throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let writer = try Connection(path: path + ".whole", access: .create)
      try writer.execute("PRAGMA cache_size = 1")
      try writer.execute("CREATE TABLE a(id INTEGER PRIMARY KEY, text TEXT)")
      let rows =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) "
        + "SELECT i, hex(zeroblob(1000)) FROM n"
      try writer.execute("INSERT INTO a \(rows)")
      try writer.execute("BEGIN")
      try writer.execute("UPDATE a SET text = 'half written' || text")
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: path + ".whole" + suffix, toPath: path + suffix)
      }
      try writer.execute("ROLLBACK")
      try Data("mine".utf8).write(to: URL(filePath: victim))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var journal: Data { get throws { try Data(contentsOf: URL(filePath: path + "-journal")) } }

    func name(_ name: String) throws {
      let name = Array(name.utf8)
      func bytes(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      }
      let file = try #require(FileHandle(forUpdatingAtPath: path + "-journal"))
      try file.seekToEnd()
      try file.write(
        contentsOf: bytes(0x4000_0000 / 4_096 + 1) + name + bytes(name.count)
          + bytes(name.reduce(0) { $0 + Int($1) })
          + [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
      try file.close()
    }

    func count(_ access: Connection.Access) throws(SQLiteError) -> Int64 {
      let connection = try Connection(path: path, access: access)
      var rows = try connection.prepare("SELECT count(*) FROM a WHERE text NOT LIKE 'half%'")
      _ = try rows.step()
      return rows.integer(at: 0)
    }
  }

  @Test(arguments: [Connection.Access.shared, .sharedMarking, .unlocked, .readWrite, .create])
  func `a journal that names another file is refused`(_ access: Connection.Access) throws {
    for name in ["victim", "a.db-journal", "a.db"] {
      let crash = try Crash()
      try crash.name(crash.folder + "/" + name)
      let before = try crash.journal
      let error = #expect(throws: SQLiteError.self) { _ = try crash.count(access) }
      #expect(error?.kind == .foreignFile, "\(String(describing: error))")
      #expect(try crash.journal == before)
      #expect(FileManager.default.fileExists(atPath: crash.victim))
    }
  }

  @Test(arguments: [Connection.Access.readWrite, .create])
  func `another journal is rolled back`(_ access: Connection.Access) throws {
    let crash = try Crash()
    #expect(try crash.count(access) == 100)
    #expect(throws: (any Error).self) { try crash.journal }
  }

  @Test func `names are known by their place in memory`() throws {
    let crash = try Crash()
    let connection = try Connection(path: crash.path, access: .readWrite)
    _ = try connection.prepare("SELECT 1")
    let isKnown = unsafe (crash.path + "-journal").withCString { unsafe OwnFileNames.contain($0) }
    #expect(!isKnown)
  }

  @Test func `a database is rewritten with files that have no names`() throws {
    let crash = try Crash()
    let connection = try Connection(path: crash.path, access: .readWrite)
    try connection.execute("PRAGMA temp_store = FILE")
    for mode in ["DELETE", "TRUNCATE", "PERSIST", "WAL"] {
      try connection.execute("PRAGMA journal_mode = \(mode)")
      try connection.execute("DELETE FROM a WHERE id % 7 = 1")
      try connection.execute("VACUUM")
    }
  }
}
