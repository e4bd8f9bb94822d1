import Files
import Foundation
import Testing

@testable import ResponseStorage

@Suite struct PrivateCopyTests {
  @Test func `a private copy is as large as its store, and is removed with its owner`() throws {
    let folder = try AppleParallelScanTests.store()
    let bodies = "\(folder.path)/\(AppleStoreWriter.bodyFolderName)"
    try Data(count: 5_000).write(to: URL(filePath: "\(bodies)/\(UUID().uuidString)"))
    let store = try AppleStore(readingFrom: folder.path, wait: 0, temporaryFolder: "/tmp")
    var owner: PrivateCopy? = try store.makePrivateCopy()
    let path = try #require(owner?.path)
    let copy = try AppleStore(readingFrom: path, wait: 0, temporaryFolder: "/tmp")
    #expect(
      try FileStatus.of("\(path)/Cache.db").size == FileStatus.of("\(folder.path)/Cache.db").size)
    let (ours, theirs) = (try copy.footprint(), try store.footprint())
    #expect(ours.totalBytes == theirs.totalBytes)
    #expect((ours.orphanBytes, ours.bodyFilesBytes) == (theirs.orphanBytes, theirs.bodyFilesBytes))
    #expect(try copy.count() == store.count())
    owner = nil
    #expect(throws: FileError.self) { try FileStatus.of(path) }
  }
}
