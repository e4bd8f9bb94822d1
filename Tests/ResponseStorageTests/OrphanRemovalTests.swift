import Bytes
import Files
import Foundation
import ResponseStorage
import Testing

@Suite struct OrphanRemovalTests {
  /// An orphan, a file that a row refers to later, and a file that changes.
  private let names = [1, 2, 3].map { "0000000A-0000-0000-0000-00000000000\($0)" }

  @Test func `a file that a row now refers to and a changed file are kept`() throws {
    let folder = try Folder()
    let orphans = try makeOrphans(in: folder)
    let editor = try AppleStoreEditor(changing: folder.path, wait: 1_000, verifying: true)
    var removal = Removal()
    var isFirst = true
    try editor.remove(orphans: orphans, into: &removal) {
      // The names in all rows were read before this, and nothing is locked yet.
      if isFirst {
        #expect(throws: Never.self) { try change(folder) }
        isFirst = false
      }
      return false
    }
    #expect(removal.visitedOrphans == 3)
    #expect(removal.skippedOrphans == Array(names[1...]))
    #expect(removal.returnedBytes == 5)
    #expect(try remaining(in: folder) == Array(names[1...]))
  }

  @Test func `stopping keeps the remaining files`() throws {
    let folder = try Folder()
    let orphans = try makeOrphans(in: folder)
    let editor = try AppleStoreEditor(changing: folder.path, wait: 0, verifying: false)
    var removal = Removal()
    try editor.remove(orphans: orphans, into: &removal) { true }
    #expect(removal == Removal())
    #expect(try remaining(in: folder) == names)
  }

  @Test func `a name that is not a UUID is ignored`() throws {
    let folder = try Folder()
    _ = try makeOrphans(in: folder)
    let database = try FileStatus.of("\(folder.path)/Cache.db")
    let orphan = OrphanFile(
      name: "../Cache.db", size: database.size, modified: database.modified)
    let editor = try AppleStoreEditor(changing: folder.path, wait: 0, verifying: false)
    var removal = Removal()
    try editor.remove(orphans: [orphan], into: &removal) { false }
    #expect(removal.skippedOrphans == ["../Cache.db"])
    #expect(try FileStatus.of("\(folder.path)/Cache.db").identity == database.identity)
  }

  private func makeOrphans(in folder: Folder) throws -> [OrphanFile] {
    try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false).finish()
    return try names.map { name in
      let path = "\(folder.path)/fsCachedData/\(name)"
      try? FileManager.default.createDirectory(
        atPath: "\(folder.path)/fsCachedData", withIntermediateDirectories: false)
      try "12345".write(toFile: path, atomically: false, encoding: .utf8)
      let status = try FileStatus.of(path)
      return OrphanFile(name: name, size: status.size, modified: status.modified)
    }
  }

  private func change(_ folder: Folder) throws {
    _ = try Tool.output(
      "sqlite3", "\(folder.path)/Cache.db",
      "INSERT INTO cfurl_cache_receiver_data VALUES (1, 1, '\(names[1])')")
    try "123456".write(
      toFile: "\(folder.path)/fsCachedData/\(names[2])", atomically: false, encoding: .utf8)
  }

  private func remaining(in folder: Folder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/fsCachedData").sorted()
  }
}
