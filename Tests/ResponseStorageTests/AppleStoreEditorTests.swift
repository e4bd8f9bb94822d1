import Bytes
import Testing

@testable import ResponseStorage

@Suite struct AppleStoreEditorTests {
  @Test(arguments: [false, true])
  func `an editor removes several batches, and keeps what has changed`(isInUse: Bool) throws {
    let folder = try AppleParallelScanTests.store()
    let before = try Self.versions(of: folder.path)
    var versions = before
    let editor = try AppleStoreEditor(
      changing: folder.path, wait: 0, verifying: false, isHeld: isInUse)
    // These were stored again since they were read, as far as the editor can tell.
    for place in [0, 5, 39] { versions[place].key = "https://a.example/other" }
    for place in [6, 40] { versions[place].stored = Timestamp(secondsSince1970: 1) }
    let changed = [0, 5, 6, 39, 40].map { before[$0] }
    var removals = [Removal(), Removal(), Removal()]
    try editor.remove(versions[..<2], into: &removals[0]) { false }
    try editor.remove(Array(versions[2..<50]), into: &removals[1]) { false }
    // The first batch is removed, and the third leaves everything that it does not list.
    try editor.remove(versions[..<2], into: &removals[2]) { false }
    #expect(removals.map(\.visited) == [2, 48, 2])
    let skipped = [changed[..<1], changed[1...], before[..<2]].map { $0.map(\.id) }
    #expect(removals.map(\.skipped) == skipped)
    // With their keys: the row of an entry in one table can be gone while those in the others are there.
    let left = try Self.versions(of: folder.path)
    #expect(left == changed + before[50...])
  }

  /// Returns the versions of all entries of a store.
  private static func versions(of path: String) throws -> [ResponseVersion] {
    let store = try AppleStore(readingFrom: path, wait: 0, temporaryFolder: "/tmp")
    var versions: [ResponseVersion] = []
    try store.scan([.key, .stored]) { response in
      versions.append(
        ResponseVersion(
          id: response.id, key: response.key.map { ByteString(copying: $0) },
          stored: response.stored))
      return .next
    }
    return versions
  }
}
