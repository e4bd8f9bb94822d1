import Bytes
import Foundation
import ResponseStorage
import Testing

@Suite struct FoundationStoreEditorTests {
  private let folder = try? Folder()
  /// The names of four responses, of one to four bytes.
  private let names = (1...4).map { "\($0).YQAtMQAvAA==.storedcachedurlresponse" }

  @Test func `unchanged responses are removed, and all others are kept`() throws {
    let folder = try filledFolder()
    var versions = try versions(in: folder)
    try Data("!".utf8).write(to: url(of: names[1], in: folder), options: .atomic)
    try FileManager.default.removeItem(at: url(of: names[2], in: folder))
    versions.insert(ResponseVersion(id: .row(1), key: nil, stored: nil), at: 0)
    var removal = Removal()
    try editor(of: folder).remove(versions, into: &removal) { false }
    var expected = Removal()
    expected.skipped = [versions[0], versions[2], versions[3]].map(\.id)
    (expected.visited, expected.returnedBytes) = (5, 5)
    #expect(removal == expected)
    #expect(try folder.names() == [names[1]])
  }

  @Test func `a different file with the same size and time is kept`() throws {
    let folder = try filledFolder()
    let path = url(of: names[3], in: folder)
    let time: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSince1970: 1e9)]
    try FileManager.default.setAttributes(time, ofItemAtPath: path.path())
    let versions = try versions(in: folder)
    try Data(repeating: 1, count: 4).write(to: path, options: .atomic)
    try FileManager.default.setAttributes(time, ofItemAtPath: path.path())
    let new = try #require(try self.versions(in: folder)[3].file)
    #expect(versions[3].file?.isLike(new) == true)
    var removal = Removal()
    try editor(of: folder).remove(versions, into: &removal) { false }
    #expect(removal.skipped == [versions[3].id])
    #expect(try folder.names() == [names[3]])
  }

  @Test func `a response without a version is kept, as it was not a regular file`() throws {
    let folder = try filledFolder()
    var versions = try versions(in: folder)
    for index in versions.indices { versions[index].file = nil }
    var removal = Removal()
    try editor(of: folder).remove(versions, into: &removal) { false }
    #expect(removal.skipped == versions.map(\.id))
    #expect(try folder.names() == names)
  }

  @Test func `the editor checks after each file whether to stop`() throws {
    let folder = try filledFolder()
    let versions = try versions(in: folder)
    var (removal, questions) = (Removal(), 0)
    try editor(of: folder).remove(versions, into: &removal) {
      questions += 1
      return questions > 2
    }
    #expect((removal.visited, removal.skipped, removal.returnedBytes) == (2, [], 3))
    #expect(try folder.names() == Array(names[2...]))
  }

  @Test func `there is no space to reclaim`() throws {
    let folder = try filledFolder()
    #expect(try editor(of: folder).compact(fully: true) { false } == .none)
    #expect(try folder.names() == names)
  }

  private func filledFolder() throws -> Folder {
    let folder = try #require(folder)
    for (index, name) in names.enumerated() {
      try Data(repeating: 0, count: index + 1).write(to: url(of: name, in: folder))
    }
    return folder
  }

  private func url(of name: String, in folder: Folder) -> URL {
    URL(filePath: folder.path).appending(path: name)
  }

  private func opening(_ folder: Folder) throws -> StoreOpening {
    StoreOpening(
      path: folder.path, wait: 0,
      now: try #require(Timestamp(secondsSince2001: 60)))
  }

  private func editor(of folder: Folder) throws -> any ResponseStore {
    try opening(folder).openForChanging(verifying: true)
  }

  private func versions(in folder: Folder) throws -> [ResponseVersion] {
    var versions: [ResponseVersion] = []
    try opening(folder).open().scan(.file) { response in
      versions.append(
        ResponseVersion(id: response.id, key: nil, stored: nil, file: response.file))
      return .next
    }
    return versions
  }
}
