import Bytes
import Foundation
import ResponseStorage
import Testing

@Suite struct FoundationStoreTests {
  @Test func `stored responses are read back`() throws {
    let folder = try Folder()
    var archive = try archive("https://a.example/b?c=1", body: Array("body".utf8))
    archive.headers = HeaderFields([
      .init(name: "ETag", value: "\"a\""), .init(name: "Set-Cookie", value: "a=1"),
      .init(name: "set-cookie", value: "b=2"), .init(name: "X-ID", value: "c"),
    ])
    let info: [StoredResponse.Property] = [
      .init(key: "text", value: .text("é")), .init(key: "number", value: .integer(-1)),
      .init(key: "date", value: .date(try moment(5))), .init(key: "data", value: .data([1])),
      .init(key: "inner", value: .dictionary([.init(key: "real", value: .real(1.5))])),
    ]
    archive.userInfo = info
    let id = try #require(try write(archive, to: folder, at: moment(7.9)))
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    let response = try #require(try store.response(id, .all))
    var expected = StoredResponse(id: .file("7.YS5leGFtcGxlAC0xAC9iAA=="))
    expected.key = "a.example\0-1\0/b\0"
    expected.url = "https://a.example/b?c=1"
    expected.stored = try moment(7)
    expected.status = 200
    expected.mimeType = "text/plain"
    expected.responseHeaders = HeaderFields([
      .init(name: "Etag", value: "\"a\""), .init(name: "Set-Cookie", value: "a=1, b=2"),
      .init(name: "X-ID", value: "c"),
    ])
    expected.bodySize = 4
    expected.bodyLocation = .inline
    expected.storagePolicy = .allowed
    expected.userInfo = info
    expected.file = response.file
    #expect(response.file?.size == ByteCount(archive.bytes.count))
    #expect(response == expected)
    for part in [Projection.freshnessFields, .cachingFields] {
      #expect(try store.response(id, part)?.responseHeaders == expected.responseHeaders)
    }
    var scanned: [StoredResponse] = []
    try store.scan(.all) { response in
      scanned.append(copy response)
      return .next
    }
    #expect(scanned == [expected])
    #expect(try store.count() == 1)
  }

  @Test func `texts that are not UTF-8 are noted`() throws {
    let folder = try Folder()
    var archive = try archive("https://a.example/~~", body: [])
    archive.headers = HeaderFields([.init(name: "X-~~", value: "x~~")])
    let id = try #require(try write(archive, to: folder, at: moment(1)))
    guard case .file(let name) = id else { return #expect(Bool(false), "\(id) is no file") }
    let path = "\(folder.path)/\(name.string ?? "").storedcachedurlresponse"
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    // The writer never creates such strings. Single-byte strings can contain any byte.
    for index in bytes.indices.dropLast() where bytes[index] == 0x7E && bytes[index + 1] == 0x7E {
      (bytes[index], bytes[index + 1]) = (0xC3, 0x28)
    }
    try Data(bytes).write(to: URL(filePath: path))
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    let wanted = [
      "the URL of the response is not UTF-8",
      "the name of a header field of the response is not UTF-8",
      "a header field of the response is not UTF-8",
    ]
    #expect(try store.response(id, .all)?.notes.map(\.message) == wanted)
    #expect(try store.response(id, .notes)?.notes.map(\.message) == [wanted[0]])
  }

  @Test(arguments: [0, 1, 65_000, 65_536, 1_000_000])
  func `a body of any size is read piece by piece`(size: Int) throws {
    let folder = try Folder()
    let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let id = try #require(
      try write(archive("https://a.example/", body: body), to: folder, at: moment(1)))
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    #expect(try store.response(id, .body)?.bodySize == ByteCount(size))
    var read: [UInt8] = []
    try store.withBody(of: id) { reader in
      var buffer = [UInt8](repeating: 0, count: 1_000)
      var count = try reader.read(into: &buffer)
      while count > 0 {
        read += buffer[..<count]
        count = try reader.read(into: &buffer)
      }
    }
    #expect(read == body)
  }

  @Test func `responses are ordered by id`() throws {
    let folder = try Folder()
    for (seconds, path) in [(20.0, "b"), (3, "a"), (-4, "c"), (20, "a")] {
      _ = try write(archive("https://a.example/\(path)"), to: folder, at: moment(seconds))
    }
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    var ids: [StoredResponse.ID] = []
    try store.scan([]) { response in
      ids.append(response.id)
      return .next
    }
    #expect(ids.count == 4)
    #expect(ids == ids.sorted())
  }

  @Test func `a file that disappears during a scan is skipped`() throws {
    let folder = try Folder()
    let id = try #require(
      try write(archive("https://a.example/"), to: folder, at: moment(1)))
    _ = try write(archive("https://b.example/"), to: folder, at: moment(2))
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    try FileManager.default.removeItem(atPath: "\(folder.path)/\(folder.names()[0])")
    var urls: [ByteString?] = []
    try store.scan(.url) { response in
      urls.append(response.url)
      return .next
    }
    #expect(urls == ["https://b.example/"])
    #expect(try store.response(id, []) == nil)
    #expect(throws: StoreError.self) { try store.withBody(of: id) { _ in } }
  }

  @Test func `an archive is returned unchanged`() throws {
    let folder = try Folder()
    let archive = try archive("https://a.example/")
    let id = try #require(try write(archive, to: folder, at: moment(1)))
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    #expect(try store.rawPropertyList("archive", of: id) == archive.bytes)
    #expect(try store.rawPropertyList("user_info", of: id) == nil)
  }

  @Test func `the footprint separates what URLCache counts from the rest`() throws {
    let folder = try Folder()
    let archive = try archive("https://a.example/")
    _ = try write(archive, to: folder, at: moment(1))
    try FoundationStoreWriter(creating: folder.path + "/other").insertTemporaryFile(
      [1], suffix: "1")
    try FileManager.default.copyItem(
      atPath: folder.path + "/other/.dat.nosync1", toPath: folder.path + "/.dat.nosync1")
    let footprint = try FoundationStore(readingFrom: folder.path, now: moment(60)).footprint()
    #expect(footprint.totalBytes == ByteCount(archive.bytes.count))
    #expect(footprint.orphanFiles == 1)
    #expect(footprint.orphanBytes == 1)
  }

  @Test func `a file that URLCache ignores is an orphan and no entry`() throws {
    let folder = try Folder()
    let archive = try archive("https://a.example/")
    _ = try write(archive, to: folder, at: moment(1))
    let ignored = [".dat.nosync1f.old", "noon.YQA=.storedcachedurlresponse"]
    for name in ignored {
      try Data(archive.bytes).write(to: URL(filePath: "\(folder.path)/\(name)"))
    }
    let store = try FoundationStore(readingFrom: folder.path, now: moment(60))
    var ids: [StoredResponse.ID] = []
    try store.scan([]) { response in
      ids.append(response.id)
      return .next
    }
    #expect(try (ids.count, store.count()) == (1, 1))
    for name in ignored {
      let id = StoredResponse.ID.file(ByteString(name))
      #expect(try store.response(id, []) == nil)
    }
    let later = try #require(Timestamp(secondsSince1970: Date.now.timeIntervalSince1970 + 3_600))
    let orphans = try store.orphans(at: later).files
    #expect(orphans.map(\.name) == ignored)
    #expect(try store.orphans(at: moment(60)).files.isEmpty)
    let editor = try StoreOpening(
      path: folder.path, wait: 0, now: moment(60)
    ).openForChanging(verifying: true)
    // A plan may name an entry as an orphan, or an orphan that has changed.
    var (changed, entry) = (orphans[1], orphans[1])
    changed.size += 1
    let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    entry.name = try #require(all.first { !ignored.contains($0) })
    var removal = Removal()
    try editor.remove(orphans: [orphans[0], changed, entry], into: &removal) { false }
    #expect(removal.visitedOrphans == 3 && removal.skippedOrphans.count == 2)
    #expect(removal.returnedBytes == orphans[0].size)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count == 2 && !names.contains(ignored[0]))
  }

  @Test func `the kind of a store is detected`() throws {
    let (empty, foundation, apple) = (try Folder(), try Folder(), try Folder())
    _ = try write(archive("https://a.example/"), to: foundation, at: moment(1))
    try AppleStoreWriter(creating: apple.path, schema: .version203).finish()
    #expect(try open(foundation.path).description.format == .foundation)
    #expect(try open(apple.path).description.format == .apple)
    #expect(throws: StoreError.Code.notACache) { try codes { try open(empty.path) } }
    #expect(throws: StoreError.Code.notFound) { try codes { try open(empty.path + "/none") } }
    let defaultFolder = empty.path + "/org.swift.foundation.URLCache/tool"
    try FileManager.default.createDirectory(
      atPath: defaultFolder, withIntermediateDirectories: true)
    #expect(try open(defaultFolder).description.format == .foundation)
  }
}

extension StoreError.Code: Error {}

/// Calls `body`, and rethrows only the code of its error.
private func codes<Result>(_ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as StoreError { throw error.code }
}

private func open(_ path: String) throws -> any ResponseSource {
  try StoreOpening(path: path, wait: 0, now: moment(60)).open()
}

private func moment(_ seconds: Double) throws -> Timestamp {
  try #require(Timestamp(secondsSince2001: seconds))
}

private func archive(_ url: ByteString, body: [UInt8] = [1]) throws -> FoundationArchive {
  FoundationArchive(
    url: url, status: 200, headers: HeaderFields(), mimeType: "text/plain", body: body,
    created: try moment(7.5))
}

private func archive(_ url: String) throws -> FoundationArchive {
  try archive(ByteString(url))
}

private func write(
  _ archive: FoundationArchive, to folder: Folder, at time: Timestamp
) throws -> StoredResponse.ID? {
  let copy = try Folder()
  let id = try FoundationStoreWriter(creating: copy.path).insert(
    archive.bytes, for: archive.url, stored: time)
  for name in try copy.names() {
    try FileManager.default.copyItem(
      atPath: "\(copy.path)/\(name)", toPath: "\(folder.path)/\(name)")
  }
  return id
}
