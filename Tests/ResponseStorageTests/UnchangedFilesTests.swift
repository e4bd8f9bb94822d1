import Files
import Foundation
import ResponseStorage
import SQLite
import Testing

/// Changes the files of a store between opening it and finishing the read.
@Suite struct UnchangedFilesTests {
  @Test func `blocks that the file system allocates later are not a change`() throws {
    let folder = try Folder()
    let store = try open(folder)
    let before = try FileStatus.of("\(folder.path)/Cache.db")
    // Allocate blocks beyond the end, as a file system may do while it writes pages to disk.
    _ = try Tool.output(
      "sh", "-c",
      """
      cd '\(folder.path)' && touch -r Cache.db time && fallocate -n -o 1000000 -l 65536 Cache.db \
      && touch -r time Cache.db
      """)
    let after = try FileStatus.of("\(folder.path)/Cache.db")
    try #require(after.allocatedSize > before.allocatedSize)
    try #require(after.size == before.size && after.modified == before.modified)
    #expect(throws: Never.self) { try store.finish() }
  }

  @Test(arguments: [
    "touch Cache.db", "echo >> Cache.db", "ln Cache.db other", "echo > Cache.db-wal",
    "cp -p Cache.db c && mv c Cache.db", "touch Cache.db-journal", "rm Cache.db",
  ])
  func `any modification of a file is a change`(_ command: String) throws {
    let folder = try Folder()
    let store = try open(folder)
    _ = try Tool.output("sh", "-c", "cd '\(folder.path)' && \(command)")
    #expect {
      try store.finish()
    } throws: {
      ($0 as? StoreError)?.code == .changedWhileReading
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `another process that only opens the database changes nothing`(_ mode: String) throws {
    let (folder, store) = try openNew(mode)
    let other = try SQLiteProcess("\(folder.path)/Cache.db", "SELECT * FROM cfurl_cache_response")
    // The test would show nothing if the process left no trace.
    #expect(try folder.names().contains("Cache.db-wal") == (mode == "WAL"))
    #expect(throws: Never.self) { try store.finish() }
    other.end()
    #expect(throws: Never.self) { try store.finish() }
    #expect(try store.count() == 0)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `an entry that another process stores is a change`(_ mode: String) throws {
    let (folder, store) = try openNew(mode)
    let other = try SQLiteProcess(
      "\(folder.path)/Cache.db",
      "INSERT INTO cfurl_cache_response (request_key) VALUES ('http://a.example/')")
    for _ in 1...2 {
      #expect {
        try store.finish()
      } throws: {
        ($0 as? StoreError)?.code == .changedWhileReading
      }
      // Closing the database moves the entry from the log to the file of the database.
      other.end()
    }
  }

  @Test func `a process that only reads the log changes nothing`() throws {
    let (folder, _) = try openNew("WAL")
    let path = "\(folder.path)/Cache.db"
    let insert = "INSERT INTO cfurl_cache_response (request_key) VALUES ('http://a.example/')"
    // A process that is killed leaves its log behind.
    _ = try Tool.output("sqlite3", path, insert, ".system kill -9 $PPID")
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    let other = try SQLiteProcess(path, "SELECT * FROM cfurl_cache_response")
    #expect(try other.countEntries() == "1")
    #expect(throws: Never.self) { try store.finish() }
  }

  /// Creates an empty store with a journal mode, and opens it.
  private func openNew(_ mode: String) throws -> (Folder, AppleStore) {
    let folder = try Folder()
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", "PRAGMA journal_mode = \(mode)")
    // As nobody has written to it for an hour, it is read without a lock, and not copied.
    if mode == "DELETE" { try folder.age() }
    return (folder, try AppleStore(readingFrom: folder.path, wait: 0))
  }

  private func open(_ folder: Folder) throws -> AppleStore {
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    return try AppleStore(readingFrom: folder.path, wait: 0)
  }
}

/// Databases with a rollback journal, whose writers wait for readers.
@Suite struct RollbackJournalTests {
  private static let insert =
    "INSERT INTO cfurl_cache_response (request_key) VALUES ('http://a.example/')"

  private func make() throws -> (folder: Folder, path: String) {
    let folder = try Folder()
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    let path = "\(folder.path)/Cache.db"
    _ = try Tool.output("sqlite3", path, "PRAGMA journal_mode = DELETE")
    return (folder, path)
  }

  private func open(_ folder: Folder, wait: Int32 = 0) throws -> AppleStore {
    try AppleStore(readingFrom: folder.path, wait: wait)
  }

  /// Whether another process can store an entry at once.
  private func stores(_ path: String) throws -> Bool {
    try Tool.output("sqlite3", path, "\(Self.insert); SELECT 'stored'") == "stored\n"
  }

  @Test func `a database that was just written is read from a copy`() throws {
    let (folder, path) = try make()
    let store = try open(folder)
    _ = try Tool.output("sqlite3", path, Self.insert)
    #expect(throws: Never.self) { try store.finish() }
    #expect(try store.count() == 0)
    #expect(!store.description.inUse)
  }

  @Test func `nobody waits for a reader`() throws {
    let (folder, path) = try make()
    try folder.age()
    let other = try SQLiteProcess(path, "BEGIN IMMEDIATE; \(Self.insert)")
    let store = try open(folder)
    #expect(store.description.inUse)
    other.end()
    #expect(try stores(path))
    #expect(throws: Never.self) { try store.finish() }
    #expect(try store.count() == 0)
  }

  @Test func `a transaction that is open changes nothing`() throws {
    let (folder, path) = try make()
    try folder.age()
    let store = try open(folder)
    let other = try SQLiteProcess(path, "BEGIN IMMEDIATE; \(Self.insert)")
    #expect(throws: Never.self) { try store.finish() }
    other.end()
  }

  @Test func `a database that is locked for the whole time is in use`() throws {
    let (folder, path) = try make()
    let other = try SQLiteProcess(path, "BEGIN EXCLUSIVE")
    let error = #expect(throws: StoreError.self) { _ = try open(folder, wait: 50) }
    #expect(error?.code == .inUse)
    other.end()
    #expect(try open(folder).count() == 0)
  }

  @Test func `the lock of a reader is taken only where SQLite would take it`() throws {
    let (folder, path) = try make()
    defer { withExtendedLifetime(folder) {} }
    do {
      let writer = try SQLiteProcess(path, "BEGIN EXCLUSIVE")
      let file = try OpenFile(reading: path)
      #expect(try !DatabaseProbe.lockShared(file))
      writer.end()
    }
    #expect(try stores(path))
    let file = try OpenFile(reading: path)
    #expect(try DatabaseProbe.lockShared(file))
    #expect(try !stores(path))
    // Others may still read, and begin a transaction.
    #expect(try Tool.output("sqlite3", path, "BEGIN IMMEDIATE; SELECT 'begun'") == "begun\n")
  }
}

extension Folder {
  /// Lets the database look as if it had not been written for an hour.
  fileprivate func age() throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -3_600)], ofItemAtPath: "\(path)/Cache.db")
  }
}
