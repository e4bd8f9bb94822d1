import Foundation
import ResponseStorage
import Testing

@Suite struct CompactionTests {
  @Test func `data that a crash left after the end of a database is truncated`() throws {
    let folder = try Folder()
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    let database = "\(folder.path)/Cache.db"
    _ = try Tool.output("sqlite3", database, "PRAGMA journal_mode = DELETE")
    let length = try Data(contentsOf: URL(filePath: database)).count
    let handle = try FileHandle(forWritingTo: URL(filePath: database))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(count: 5 * 4_096))
    try handle.close()

    let editor = try AppleStoreEditor(changing: folder.path, wait: 0, verifying: true)
    #expect(try editor.compact(fully: false) { false } == .rewrite)
    #expect(try Data(contentsOf: URL(filePath: database)).count <= length)
    #expect(try editor.compact(fully: false) { false } == .none)
  }
}
