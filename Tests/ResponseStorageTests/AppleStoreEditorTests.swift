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
      changing: folder.path, wait: 0, verifying: false)
    editor.inUse = isInUse
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

  @Test(arguments: [false, true])
  func `a batch of many entries is removed but for those that have changed`(
    isInUse: Bool
  ) throws {
    let folder = try AppleParallelScanTests.store()
    let before = try Self.versions(of: folder.path)
    var versions = Array(before[..<2_000])
    let changed = [0, 511, 512, 513, 1_023, 1_024, 1_999]
    for place in changed { versions[place].key = "https://a.example/other" }
    let editor = try AppleStoreEditor(
      changing: folder.path, wait: 0, verifying: false)
    editor.inUse = isInUse
    var removal = Removal()
    try editor.remove(versions, into: &removal) { false }
    #expect(removal.visited == 2_000)
    #expect(removal.skipped == changed.map { before[$0].id })
    let left = try Self.versions(of: folder.path)
    #expect(left == changed.map { before[$0] } + before[2_000...])
    // Three of the entries that are left had no row in the first table. None of those that were removed has a row left.
    let count = try Tool.output(
      "sqlite3", "\(folder.path)/Cache.db",
      """
      SELECT (SELECT count(*) FROM cfurl_cache_response) || ' '
        || (SELECT count(*) FROM cfurl_cache_blob_data) || ' '
        || (SELECT count(*) FROM cfurl_cache_receiver_data);
      """)
    #expect(count.contains("3200 3203 3203"), "\(count)")
  }

  @Test(arguments: [false, true])
  func `an error in a later group of a batch removes nothing`(isInUse: Bool) throws {
    let folder = try AppleParallelScanTests.store()
    // Whether an app uses a database with a rollback journal is never known.
    _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", "PRAGMA journal_mode = WAL")
    let before = try Self.versions(of: folder.path)
    let editor = try AppleStoreEditor(
      changing: folder.path, wait: 0, verifying: false)
    editor.inUse = isInUse
    var versions = Array(before[..<2_000])
    versions[3].key = "https://a.example/other"
    // Out of order, as only a damaged database returns rows.
    versions.swapAt(700, 701)
    var removal = Removal()
    #expect(throws: StoreError.self) { try editor.remove(versions, into: &removal) { false } }
    // While it is in use, batches are short, and those before the error are removed.
    let visited = isInUse ? removal.visited : 0
    #expect(removal.visited == visited && removal.skipped.count == (isInUse ? 1 : 0))
    let left = try Self.versions(of: folder.path)
    #expect(left == (isInUse ? [before[3]] : []) + before[visited...])
  }

  /// Returns the versions of all entries of a store.
  private static func versions(of path: String) throws -> [ResponseVersion] {
    let store = try AppleStore(readingFrom: path, wait: 0)
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
