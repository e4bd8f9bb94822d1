import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

/// Tests that several threads compute the same totals as one.
@Suite struct PortionedReportTests {
  @Test func `a report does not depend on its portions`() throws {
    for seed in 0..<6 as Range<UInt64> {
      let store = try store(seed)
      let whole = try report(on: store, inPortionsOf: nil)
      #expect(whole.hosts.count > 3)
      for length in [1, 7, 250] {
        #expect(try report(on: store, inPortionsOf: length) == whole, "seed \(seed), \(length)")
      }
    }
  }

  @Test func `partial counts are added up`() throws {
    let store = try store(1)
    let empty = CacheReportTally(now: try #require(now), expiryRules: [], largestBody: nil)
    var (whole, sum) = (empty, empty)
    for response in store.responses {
      whole.insert(response)
      var part = empty
      part.insert(response)
      sum.insert(part)
    }
    var reports = (
      try report(on: MemoryStore(), inPortionsOf: nil),
      try report(on: MemoryStore(), inPortionsOf: nil)
    )
    try whole.write(to: &reports.0, lookingUpIn: store)
    try sum.write(to: &reports.1, lookingUpIn: store)
    #expect(reports.0 == reports.1)
  }

  @Test(arguments: UsageReport.Grouping.allCases)
  func `usage does not depend on its portions`(
    grouping: UsageReport.Grouping
  ) throws {
    for seed in 0..<5 as Range<UInt64> {
      let store = try store(seed)
      let whole = try usage(of: store, by: grouping, inPortionsOf: nil)
      // Without rules all entries have the same class.
      #expect(whole.groups.count > (grouping == .entryClass ? 0 : 1))
      for length in [1, 7, 250] {
        #expect(
          try usage(of: store, by: grouping, inPortionsOf: length) == whole,
          "seed \(seed), \(length)")
      }
    }
  }

  @Test(arguments: [(10, 20), (10, 70_000), (70_000, 10), (70_000, 80_000), (40_000, 40_000)])
  func `the median of two merged parts equals that of all`(first: Int, second: Int) {
    var random = Seeded(state: UInt64(first))
    let sizes = (0..<(first + second)).map { _ in
      ByteCount(Int.random(in: 0..<3_000_000, using: &random))
    }
    var (all, one, other) = (MedianSize(), MedianSize(), MedianSize())
    for size in sizes { all.insert(size) }
    for size in sizes.prefix(first) { one.insert(size) }
    for size in sizes.dropFirst(first) { other.insert(size) }
    one.insert(other)
    #expect(one.median == all.median)
    #expect(one.median != nil)
  }

  private let now = Timestamp(secondsSince1970: 1_767_225_600)

  private func report(on store: MemoryStore, inPortionsOf length: Int?) throws -> CacheReport {
    var store = store
    store.tallyLength = length
    return try CacheReport(
      of: store, at: try #require(now), expiryRules: UserInfoExpiry.known, capacityBytes: 4_000)
  }

  private func usage(
    of store: MemoryStore, by grouping: UsageReport.Grouping, inPortionsOf length: Int?
  ) throws -> UsageReport {
    var store = store
    store.tallyLength = length
    return try UsageReport(
      of: store, by: grouping, capacityBytes: 4_000, now: try #require(now), withHistograms: true)
  }

  /// Creates a store of 300 entries with few distinct values.
  private func store(_ seed: UInt64) throws -> MemoryStore {
    var random = Seeded(state: seed)
    let now = try #require(now)
    func any<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: values.indices, using: &random)]
    }
    let responses = (1...300).map { (number: Int64) in
      var response = StoredResponse(id: .row(number))
      let host = any(["a.example", "A.EXAMPLE", "b.example:81", "c.example", "d.example"])
      let path = any(["", "/", "/x", "/x/y/1", "/x/y/z/2", "/v/", "?q", "/v/w/u#/a/b/"])
      response.url = any([nil, ByteString("https://\(host)\(path)"), "mailto:x"])
      response.status = any([200, 200, 301, 404, nil])
      response.mimeType = any(["text/html", "image/png", nil])
      response.request.method = any(["GET", "HEAD", nil])
      response.storagePolicy = any([.allowed, .notAllowed, nil])
      response.partition = any(["site.example", nil])
      let age = Double(any([-60, 5, 7_000, 90_000, 3_000_000]) as Int)
      response.stored = any([Timestamp(secondsSince1970: now.secondsSince1970 - age), nil])
      response.bodySize = any([0, 1, 20, 20, 300, 900, nil])
      response.bodyLocation = any([.inline, .file, .missing])
      response.responseHeaders = HeaderFields(
        [
          any([.init(name: "Cache-Control", value: "max-age=86400"), nil]),
          any([.init(name: "ETag", value: "\"x\""), nil]),
        ].compactMap { $0 })
      response.notes = any([[], [], [.init(.badTime, "x")], [.init(.undecodable, "y")]])
      return response
    }
    return MemoryStore(responses)
  }
}
