import Files
import Foundation
import Testing

@testable import ResponseStorage

@Suite struct StoreTrialTests {
  @Test func `a copy to try on has the same database and body files as long, and goes`() throws {
    let folder = try AppleParallelScanTests.store()
    let bodies = "\(folder.path)/\(AppleStoreWriter.bodyFolderName)"
    try Data(count: 5_000).write(to: URL(filePath: "\(bodies)/\(UUID().uuidString)"))
    let store = try AppleStore(readingFrom: folder.path, wait: 0, temporaryFolder: "/tmp")
    var trial: StoreTrial? = try store.makeTrial()
    let path = try #require(trial?.path)
    let copy = try AppleStore(readingFrom: path, wait: 0, temporaryFolder: "/tmp")
    #expect(
      try FileStatus.of("\(path)/Cache.db").size == FileStatus.of("\(folder.path)/Cache.db").size)
    let (ours, theirs) = (try copy.footprint(), try store.footprint())
    #expect(ours.totalBytes == theirs.totalBytes)
    #expect((ours.orphanBytes, ours.bodyFilesBytes) == (theirs.orphanBytes, theirs.bodyFilesBytes))
    #expect(try copy.count() == store.count())
    trial = nil
    #expect(throws: FileError.self) { try FileStatus.of(path) }
  }
}
