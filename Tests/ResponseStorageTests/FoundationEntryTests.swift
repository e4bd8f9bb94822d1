import Bytes
import Foundation
import ResponseStorage
import Testing

/// Tests that a Foundation store returns what was inserted, except for fields that it cannot store.
@Suite struct FoundationEntryTests {
  @Test func `a stored response has exactly the losses that were reported`() throws {
    let folder = try Folder()
    let raw = try response("https://a.example/x?y").raw(id: 5)
    let admitted = try NewStore.foundation.admit(raw)
    #expect(admitted.key == "a.example\0-1\0/x\0")
    #expect(
      admitted.losses == [
        .requestHeaders, .requestDetails, .responseHeaders, .firstStored, .userInfo,
        .protocolProperties,
      ])
    try put([raw], into: folder)
    let key = try #require(admitted.key)
    let there = try #require(try store(folder).standingResponse(forKey: key)).raw
    let (kept, found) = (
      StoredResponse(decoding: admitted.kept, .all), StoredResponse(decoding: there, .all)
    )
    var expected = kept
    expected.id = .row(0)
    #expect(found == expected)
    #expect(found.userInfo == [.init(key: "attempt", value: .integer(3))])
    #expect(there.synthesizedFields.count == 1 && there.finding == nil)
  }

  @Test func `a response that equals its file loses nothing`() throws {
    let folder = try Folder()
    try put([try response("https://a.example/x?y").raw(id: 5)], into: folder)
    let there = try store(folder).standingResponse(forKey: "a.example\0-1\0/x\0")
    #expect(try NewStore.foundation.admit(try #require(there).raw).losses == [])
  }

  @Test func `a response is replaced only if it did not change`() throws {
    let folder = try Folder()
    let key: ByteString = "a.example\0-1\0/x\0"
    try put([try response("https://a.example/x").raw(id: 1)], into: folder)
    let seen = try #require(try store(folder).standingResponse(forKey: key)).version
    var other = try response("http://a.example/x?other")
    other.stored = try moment(99)
    #expect(try put([other.raw(id: 2)], into: folder) == [false])
    #expect(try put([other.raw(id: 2)], into: folder, replacing: seen) == [true])
    #expect(try folder.names().map { $0.prefix(3) } == ["99."])
    #expect(try put([other.raw(id: 2)], into: folder, replacing: seen) == [false])
    #expect(try folder.names().map { $0.prefix(3) } == ["99."])
  }

  @Test func `a response stored in the same second replaces the other`() throws {
    let folder = try Folder()
    let raw = try response("https://a.example/x").raw(id: 1)
    try put([raw], into: folder)
    let names = try folder.names()
    let seen = try store(folder).standingResponse(forKey: "a.example\0-1\0/x\0")
    #expect(try put([raw], into: folder, replacing: try #require(seen).version) == [true])
    #expect(try folder.names() == names)
  }

  @Test func `an error leaves the store unchanged, and staged files are invisible`() throws {
    struct Failure: Error {}
    let folder = try Folder()
    let editor = try editor(of: folder)
    let raw = try response("https://a.example/x").raw(id: 1)
    let staged = try #require(try editor.stage(raw))
    try editor.synchronizeStaged([staged])
    #expect(throws: Failure.self) {
      try editor.insert { insertion in
        #expect(try insertion.insert(raw, staged: staged, replacing: nil))
        throw Failure()
      }
    }
    #expect(try store(folder).standingResponse(forKey: "a.example\0-1\0/x\0") == nil)
    editor.removeStaged([staged])
    #expect(try folder.names() == [])
  }

  @Test(
    arguments: [
      ("about:blank", "its URL has no host"),
      (
        "https://a.example/" + String(repeating: "x", count: 160),
        "its key cannot be a file name, so URLCache does not store it on disk"
      ),
    ])
  func `a response that Foundation would not find is refused`(url: String, reason: String) throws {
    let raw = try response(ByteString(url)).raw(id: 1)
    #expect(throws: AdmissionRefusal(reason)) { try NewStore.foundation.admit(raw) }
  }

  @Test func `methods other than GET are refused, as the key has no method`() throws {
    var response = try response("https://a.example/")
    response.request.method = "POST"
    let raw = response.raw(id: 1)
    #expect(throws: AdmissionRefusal("it answers a method other than GET")) {
      try NewStore.foundation.admit(raw)
    }
  }

  /// Inserts responses, and returns for each whether it was inserted.
  @discardableResult
  private func put(
    _ responses: [RawResponse], into folder: Folder, replacing replaced: ResponseVersion? = nil
  ) throws -> [Bool] {
    let editor = try editor(of: folder)
    let staged = try responses.map { try editor.stage($0) }
    try editor.synchronizeStaged(staged.compactMap { $0 })
    var results: [Bool] = []
    try editor.insert { insertion in
      for (response, name) in zip(responses, staged) {
        results.append(try insertion.insert(response, staged: name, replacing: replaced))
      }
      return []
    }
    for (name, isIn) in zip(staged, results) where !isIn {
      editor.removeStaged([name].compactMap { $0 })
    }
    return results
  }

  private func store(_ folder: Folder) throws -> FoundationStore {
    try FoundationStore(readingFrom: folder.path, now: moment(1_000))
  }

  private func editor(of folder: Folder) throws -> any ResponseStore {
    let opening = StoreOpening(
      path: folder.path, wait: 0, now: try moment(1_000))
    var store: (any ResponseStore)?
    if try folder.names().isEmpty {
      try NewStore.foundation.create(opening) { store = $0 }
    } else {
      store = try opening.openForChanging(verifying: false)
    }
    return try #require(store)
  }

  private func response(_ url: ByteString) throws -> NewResponse {
    var response = NewResponse(
      url: url, requestHeaders: HeaderFields([.init(name: "Accept", value: "*/*")]), status: 200,
      headers: HeaderFields([
        .init(name: "content-type", value: "text/html"), .init(name: "Vary", value: "Accept"),
        .init(name: "Set-Cookie", value: "a=1"), .init(name: "Set-Cookie", value: "b=2"),
      ]), stored: try moment(7.5), body: Body(Array("body".utf8)))
    response.firstStored = try moment(3)
    response.request.timeoutSeconds = 5
    response.userInfo = [
      .init(key: "attempt", value: .integer(3)), .init(key: "list", value: .array([.text("a")])),
    ]
    return response
  }

  private func moment(_ seconds: Double) throws -> Timestamp {
    try #require(Timestamp(secondsSince2001: seconds))
  }
}
