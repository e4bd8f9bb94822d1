import Files
import Foundation
import ResponseStorage
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
    "touch Cache.db", "echo >> Cache.db", "ln Cache.db other", "touch Cache.db-wal",
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

  private func open(_ folder: Folder) throws -> AppleStore {
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    return try AppleStore(readingFrom: folder.path, wait: 0, temporaryFolder: "/tmp")
  }
}
