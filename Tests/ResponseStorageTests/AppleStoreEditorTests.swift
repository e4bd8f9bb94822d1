import Bytes
import Testing

@testable import ResponseStorage

@Suite struct AppleStoreEditorTests {
  @Test func `an editor removes several batches`() throws {
    let folder = try AppleParallelScanTests.store()
    let store = try AppleStore(readingFrom: folder.path, wait: 0, temporaryFolder: "/tmp")
    var versions: [ResponseVersion] = []
    try store.scan([.key, .stored]) { response in
      versions.append(
        ResponseVersion(
          id: response.id, key: response.key.map { ByteString(copying: $0) },
          stored: response.stored))
      return versions.count < 6 ? .next : .stop
    }
    let before = try store.count()
    let editor = try AppleStoreEditor(changing: folder.path, wait: 0, verifying: false)
    var removals = [Removal(), Removal(), Removal()]
    try editor.remove(versions[..<2], into: &removals[0]) { false }
    try editor.remove(Array(versions[2..<5]), into: &removals[1]) { false }
    // The first batch is removed, and the third leaves everything that it does not list.
    try editor.remove(versions[..<2], into: &removals[2]) { false }
    #expect(removals.map(\.visited) == [2, 3, 2])
    #expect(removals.map(\.skipped) == [[], [], versions[..<2].map(\.id)])
    let left = try AppleStore(readingFrom: folder.path, wait: 0, temporaryFolder: "/tmp")
    #expect(try left.count() == before - 5)
    #expect(try left.response(versions[5].id, []) != nil)
  }
}
