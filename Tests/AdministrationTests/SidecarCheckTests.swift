import Administration
import Bytes
import Foundation
import ResponseStorage
import TestSupport
import Testing

/// Compares stores with folders of sidecar files.
@Suite struct SidecarCheckTests {
  /// A time at which all files are old.
  private let later: Timestamp

  init() throws {
    later = try #require(Timestamp(secondsSince1970: 4_000_000_000))
  }

  @Test func `each kind of finding is reported with its file`() throws {
    let folder = try SideFiles()
    let naming = SidecarNaming.md5
    _ = try folder.add("https://a.example/same", "s", naming)
    let other = try folder.add("https://a.example/other", "x", naming)
    let none = try folder.add("https://a.example/none", "n", naming)
    let gone = try folder.add("https://a.example/gone", "g", naming)
    try folder.write("readme.txt", [1])
    try folder.write("1", [1])
    var found: [String] = []
    let check = try check(
      [
        response(1, "https://a.example/same", tag: "s"),
        response(2, "https://a.example/other", tag: "o"),
        response(3, "https://a.example/none", tag: nil),
        response(4, "https://a.example/missing", tag: "m"),
        response(5, "https://a.example/post", tag: "p", method: "POST"),
      ], folder, repairs: true
    ) { finding in
      let id = finding.id.map { "\($0)" } ?? "-"
      let file = finding.path.flatMap(\.string)?.dropFirst(folder.path.utf8.count + 1) ?? "-"
      found.append(
        "\(finding.code.name) \(finding.code.severity) \(id) \(file): \(finding.message)")
    }
    let entries = [
      "different-sidecar warning row(2) \(other): its sidecar file and the stored response have different ETags",
      "different-sidecar warning row(3) \(none): its sidecar file has an ETag, but the stored response has none",
      "missing-sidecar note row(4) -: the stored response has an ETag but no sidecar file",
    ]
    var files = ["orphan-sidecar warning - \(gone): no entry has its URL"]
    let broken = "unreadable-sidecar warning - 1: it is not a readable keyed archive"
    files.insert(broken, at: "1" < gone ? 0 : 1)
    files.append("not-a-sidecar note - readme.txt: it is not a sidecar file")
    #expect(found == entries + files)
    #expect(check.plan.preview.removed == [ByteString(gone)])
    #expect(check.plan.preview.written == [naming.name(of: "https://a.example/missing")])
    #expect(!check.needsNaming)
  }

  @Test func `a folder of another cache has orphans only with a given naming`() throws {
    let folder = try SideFiles()
    for number in 0..<3 { _ = try folder.add("https://b.example/\(number)", "b", .sha1) }
    let stored = [response(1, "https://a.example/", tag: "a")]
    var found: [Finding] = []
    let check = try check(stored, folder, repairs: true) { found.append($0) }
    #expect(found.map(\.code.name) == ["missing-sidecar", "unknown-sidecar-names"])
    #expect(
      found.last?.message
        == "no known naming scheme matches the names of 3 sidecar files")
    #expect(check.plan.isEmpty && check.needsNaming)
    let named = try self.check(stored, folder, naming: .sha1, repairs: true) { _ in }
    #expect(named.plan.preview.removed.count == 3)
    #expect(named.plan.preview.written == [SidecarNaming.sha1.name(of: "https://a.example/")])
  }

  @Test func `sidecar files of entries that changed meanwhile are not created`() throws {
    let folder = try SideFiles()
    func plan(_ tag: String, _ last: String) throws -> SidecarPlan {
      try check(
        [
          response(1, "https://a.example/1", tag: "a"),
          response(2, "https://a.example/2", tag: tag),
          response(3, last, tag: "c"),
        ], folder, naming: .md5, repairs: true
      ) { _ in }.plan
    }
    var planned = try plan("b", "https://a.example/3")
    #expect(planned.makesFiles && planned.preview.written.count == 3)
    #expect(planned.dropAdditions(missingIn: try plan("B", "https://a.example/4")) == 2)
    #expect(planned.preview.written == [SidecarNaming.md5.name(of: "https://a.example/1")])
    #expect(planned.dropAdditions(missingIn: SidecarPlan()) == 1 && !planned.makesFiles)
  }

  @Test func `a recent file is left to the app`() throws {
    let folder = try SideFiles()
    _ = try folder.add("https://a.example/1", "a", .cfHash)
    let young = try folder.add("https://a.example/2", "b", .cfHash)
    var found: [Finding] = []
    let now = try #require(Timestamp(secondsSince1970: Date().timeIntervalSince1970))
    let options = SidecarCheck.Options(naming: nil, repairs: true, clock: now)
    let check = try SidecarCheck(
      of: SidecarFolder(folder.path),
      with: MemoryStore([response(1, "https://a.example/1", tag: "a")]), options
    ) { found.append($0) }
    #expect(found.map(\.code.name) == ["young-sidecar"])
    #expect(found.first?.path == ByteString("\(folder.path)/\(young)"))
    #expect(check.plan.isEmpty)
  }

  @Test func `a file is kept while an entry has its URL`() throws {
    let folder = try SideFiles()
    let shared = ByteString(try folder.add("https://a.example/shared", "a", .md5))
    let own = ByteString(try folder.add("https://a.example/own", "b", .sha256Capital))
    let store = MemoryStore([
      response(1, "https://a.example/shared", tag: "a"),
      response(2, "https://a.example/shared", tag: "a"),
      response(3, "https://a.example/own", tag: "b"),
    ])
    let sidecars = try SidecarFolder(folder.path)
    let one = try SidecarPlan(removingWith: entries([1, 3]), in: sidecars, of: store)
    #expect(one.preview.removed == [own])
    let all = try SidecarPlan(removingWith: entries([1, 2, 3]), in: sidecars, of: store)
    #expect(Set(all.preview.removed) == [shared, own])
    var changes = SidecarChanges()
    try all.carryOut(in: sidecars, with: entries([1, 3]), into: &changes)
    #expect(changes.removed == [own] && changes.skipped == 1)
    #expect(try SidecarFolder(folder.path).files.keys.map { $0 } == [shared])
  }

  @Test func `conflicting ETags of two entries for one URL are not written`() throws {
    let folder = try SideFiles()
    let stored = [
      response(1, "https://a.example/1", tag: "a"), response(2, "https://a.example/1", tag: "b"),
      response(3, "https://a.example/2", tag: "c"), response(4, "https://a.example/2", tag: "c"),
    ]
    let plan = try check(stored, folder, naming: .md5, repairs: true) { _ in }.plan
    #expect(plan.preview.written == [SidecarNaming.md5.name(of: "https://a.example/2")])
  }

  @Test func `a repair fixes every repairable finding`() throws {
    for seed in 0..<40 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let folder = try SideFiles()
      let naming = try #require(SidecarNaming.allCases.randomElement(using: &random))
      var responses: [StoredResponse] = []
      for id in 1...20 {
        let url = "https://a.example/\(id)"
        let tag = "\"\(UInt8.random(in: 0...255, using: &random))\""
        if Bool.random(using: &random) { _ = try folder.add(url, tag, naming) }
        if Bool.random(using: &random) { responses.append(response(Int64(id), url, tag: tag)) }
      }
      let before = try check(responses, folder, naming: naming, repairs: true) { _ in }
      var changes = SidecarChanges()
      try before.plan.carryOut(in: before.folder, with: entries([]), into: &changes)
      #expect(changes == before.plan.preview, "seed \(seed)")
      var found: [Finding] = []
      let after = try check(responses, folder, naming: naming, repairs: true) { found.append($0) }
      #expect(found == [] && after.plan.isEmpty, "seed \(seed)")
      let tags = SidecarTags(of: after.folder)
      for response in responses {
        #expect(tags.tag(of: response) == response.responseHeaders?.firstValue(named: "etag"))
      }
    }
  }

  private func check(
    _ responses: [StoredResponse], _ folder: SideFiles, naming: SidecarNaming? = nil,
    repairs: Bool, _ report: (Finding) -> Void
  ) throws -> SidecarCheck {
    try SidecarCheck(
      of: SidecarFolder(folder.path), with: MemoryStore(responses),
      .init(naming: naming, repairs: repairs, clock: later), report)
  }

  private func response(
    _ id: Int64, _ url: String, tag: String?, method: ByteString = "GET"
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(id))
    response.url = ByteString(url)
    response.key = ByteString(url)
    response.request.url = ByteString(url)
    response.request.method = method
    response.responseHeaders = HeaderFields(
      tag.map { [.init(name: "ETag", value: ByteString($0))] } ?? [])
    return response
  }

  private func entries(_ ids: [Int64]) throws -> RemovalPlan.EntryList {
    let entries = ids.map { id in
      RemovalPlan.Entry(
        version: ResponseVersion(id: .row(id), key: nil, stored: nil, file: nil), url: nil,
        size: nil, hasBodyFile: false, reason: .selected)
    }
    return try RemovalPlan.EntryList(entries)
  }
}

/// A temporary folder of sidecar files, removed with this object.
private final class SideFiles {
  let path = NSTemporaryDirectory() + "side-files-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Adds a file, and returns its name.
  func add(_ url: String, _ tag: String, _ naming: SidecarNaming) throws -> String {
    let name = try #require(naming.name(of: ByteString(url))?.string)
    try write(name, #require(ETagArchive.bytes(of: ByteString(tag))))
    return name
  }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: path + "/" + name))
  }
}
