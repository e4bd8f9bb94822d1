import Bytes
import Foundation
import Testing

@testable import ResponseStorage

/// Tests what happens to a new database when filling it fails.
@Suite struct NewStoreFilesTests {
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
    let holder = try SQLiteProcess("\(opening.path)/Cache.db", lock)
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
      path: "\(parent.path)/cache", wait: 0,
      now: try #require(Timestamp(secondsSince1970: 1_767_225_600)))
    let made = NewStoreFiles(at: opening.path)
    try AppleStoreWriter(creating: opening.path, schema: .version203, isDurable: false).finish()
    return (made, opening)
  }
}
