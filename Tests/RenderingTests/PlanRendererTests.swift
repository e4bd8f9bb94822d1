import Administration
import Bytes
import JSON
import Rendering
import ResponseStorage
import TestSupport
import Testing

@Suite struct PlanRendererTests {
  private let now = Timestamp(secondsSince1970: 1_700_000_000)

  private func plan() throws -> RemovalPlan {
    var plan = try RemovalPlan(
      removing: Selection(), from: MemoryStore(), now: #require(now))
    plan.store = StoreDescription(
      path: "Cache.db", format: .apple, schemaVersion: 203, identity: [1, .max])
    plan.entries = try RemovalPlan.EntryList([
      .init(
        version: ResponseVersion(
          id: .row(-5), key: ByteString([0xFF, 0x22]), stored: Timestamp(secondsSince2001: 0.1)),
        url: nil, size: nil, hasBodyFile: false, reason: .tooOld),
      .init(
        version: ResponseVersion(
          id: .row(.max), key: "https://a.example/\u{202E}\"\\\n", stored: nil),
        url: "https://a.example/", size: .max, hasBodyFile: true, reason: .selected),
      .init(
        version: ResponseVersion(
          id: .file("7.YQ=="), key: nil, stored: nil,
          file: FileVersion(number: .max, modified: .min, size: .max)),
        url: nil, size: 4, hasBodyFile: false, reason: .overSize),
    ])
    return plan
  }

  private func text(of plan: RemovalPlan) throws -> [UInt8] {
    var buffer = TextBuffer()
    try PlanRenderer(verb: "purge", now: #require(now))
      .append(plan, of: "/caches/Cache.db", into: &buffer) { _ in }
    return buffer.bytes
  }

  @Test func `a plan is read back`() throws {
    let plan = try plan()
    var reader = JSONReader(try text(of: plan))
    let saved = try SavedPlan(reading: &reader)
    #expect(
      (saved.path, saved.format, saved.identity) == ("/caches/Cache.db", .apple, [1, .max]))
    #expect(try saved.entries.array == plan.entries.array)
    #expect(saved.orphans == [] && !saved.isSecure)
  }

  @Test func `a truncated plan is invalid`() throws {
    let text = try text(of: plan())
    for length in 0..<text.count - 1 {
      var reader = JSONReader(Array(text[..<length]))
      #expect(throws: JSONError.self, "\(length)") { try SavedPlan(reading: &reader) }
    }
  }

  @Test(arguments: [
    ("{}", "this is not a plan for a cache at byte 2"),
    (
      "{\"schema\":\"urlcache-admin.list/1\",\"cache\":{\"path\":\"x\"}}",
      "this is not a plan for a cache at byte 55"
    ),
    ("{\"cache\":{\"format\":\"floppy\"}}", "this is not a plan for a cache at byte 29"),
    ("{\"entries\":[{}]}", "an entry has no id at byte 12"),
    ("{\"identity\":[\"-1\"]}", "expected a number at byte 13"),
    ("{\"entries\":[{\"id\":1,\"reason\":\"whim\"}]}", "unknown value at byte 29"),
    ("{\"entries\":[{\"id\":1,\"key_base64\":\"*\"}]}", "invalid Base64 at byte 33"),
    (
      "{\"schema\":\"urlcache-admin.plan/1\",\"cache\":{\"path\":\"x\"},\"entries\":[{\"id\":2},{\"id\":2}]}",
      "entries are not sorted by id at byte 85"
    ),
  ])
  func `anything but a plan is refused`(document: String, message: String) {
    var reader = JSONReader(Array(document.utf8))
    let error = #expect(throws: JSONError.self) { try SavedPlan(reading: &reader) }
    #expect(error?.description == message)
  }
}
