import Bytes
import Foundation
import Testing

@testable import ResponseStorage

/// Tests what happens to a new database when filling it fails.
@Suite struct NewStoreFilesTests {
  private let temporary = FileManager.default.temporaryDirectory.path()

  @Test func `an empty database and the created folders are removed`() throws {
    let parent = try Folder()
    let (made, opening) = try make(in: parent)
    #expect(try parent.names(in: "cache") == ["Cache.db", "fsCachedData"])
    made.removeDatabase(opening)
    #expect(try parent.names() == [])
  }

  @Test(arguments: [
    // A reader with a shared lock; and exclusive locks, with and without a write-ahead log.
    "BEGIN; SELECT * FROM cfurl_cache_response",
    "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
    "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE",
  ])
  func `a locked database is kept until it is unlocked`(lock: String) throws {
    let parent = try Folder()
    let (made, opening) = try make(in: parent)
    let holder = try LockHolder("\(opening.path)/Cache.db", lock)
    made.removeDatabase(opening)
    #expect(try parent.names(in: "cache").contains("Cache.db"))
    #expect(try holder.countEntries() == "0")
    holder.end()
    made.removeDatabase(opening)
    #expect(try parent.names() == [])
  }

  @Test func `a database with an entry from another process is kept`() throws {
    let parent = try Folder()
    let (made, opening) = try make(in: parent)
    _ = try Tool.output(
      "sqlite3", "\(opening.path)/Cache.db",
      "INSERT INTO cfurl_cache_response (request_key) VALUES ('http://a.example/')")
    made.removeDatabase(opening)
    #expect(try parent.names(in: "cache") == ["Cache.db", "fsCachedData"])
  }

  @Test func `a file that is no longer a database is removed, and other files are kept`() throws {
    let parent = try Folder()
    let (made, opening) = try make(in: parent)
    try Data().write(to: URL(filePath: "\(opening.path)/Cache.db"))
    try Data().write(to: URL(filePath: "\(opening.path)/other"))
    made.removeDatabase(opening)
    #expect(try parent.names(in: "cache") == ["other"])
  }

  /// Creates an empty store in a new folder.
  private func make(in parent: Folder) throws -> (NewStoreFiles, StoreOpening) {
    let opening = StoreOpening(
      path: "\(parent.path)/cache", wait: 0, temporaryFolder: temporary,
      now: try #require(Timestamp(secondsSince1970: 1_767_225_600)))
    let made = NewStoreFiles(at: opening.path)
    try AppleStoreWriter(creating: opening.path, schema: .version203, isDurable: false).finish()
    return (made, opening)
  }
}

/// Another process that locks a database, because locks within one process do not conflict.
private final class LockHolder {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  /// Starts the process, and waits until it has executed `lock`.
  init(_ database: String, _ lock: String) throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["sqlite3", "-batch", database]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try ask("\(lock); SELECT 'locked';", until: "locked\n")
  }

  /// Returns the number of entries that the process sees.
  func countEntries() throws -> String {
    let answer = try ask(
      "SELECT 'count', count(*) FROM cfurl_cache_response; SELECT 'done';", until: "done\n")
    return String(answer.dropFirst("count|".count).prefix { $0 != "\n" })
  }

  /// Ends the process, which releases the lock.
  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  @discardableResult private func ask(_ statements: String, until mark: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(statements)\n".utf8))
    var answer = ""
    while !answer.hasSuffix(mark) {
      let data = output.fileHandleForReading.availableData
      try #require(!data.isEmpty, "sqlite3 has ended: \(answer)")
      answer += String(decoding: data, as: UTF8.self)
    }
    return answer
  }
}
