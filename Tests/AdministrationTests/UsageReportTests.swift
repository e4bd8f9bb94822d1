import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct UsageReportTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test func `entries and bytes are summed by group, largest first`() throws {
    let source = store([
      response(1, "https://b.example/1", status: 200, size: 10),
      response(2, "https://A.example:8080/2", status: 404, size: 30),
      response(3, "https://a.EXAMPLE/3", status: 200, size: 5),
      response(4, nil, status: nil, size: nil),
      response(5, "https://c.example/", status: 200, size: 10),
    ])
    let report = try UsageReport(of: source, by: .host, capacityBytes: 400, now: now)
    #expect(report.entries == 5)
    #expect(report.bodyBytes == 55)
    #expect(report.share == 0.25)
    #expect(report.groups.map(\.key) == ["a.example", "b.example", "c.example", nil])
    #expect(report.groups.map(\.entries) == [2, 1, 1, 1])
    #expect(report.groups.map(\.bytes) == [35, 10, 10, 0])

    let byStatus = try UsageReport(of: source, by: .status, capacityBytes: nil, now: now)
    #expect(byStatus.groups.map(\.key) == ["404", "200", nil])
    #expect(byStatus.share == nil)
    #expect(try UsageReport(of: source, by: nil, capacityBytes: 0, now: now).groups.isEmpty)
  }

  @Test func `only selected entries are counted`() throws {
    let source = store([
      response(1, "https://a/", status: 200, size: 10),
      response(2, "https://b/", status: 404, size: 30),
    ])
    var selection = Selection()
    selection.statuses = [400...499]
    let report = try UsageReport(
      of: source, by: .host, capacityBytes: nil, now: now, selection: selection)
    #expect(report.entries == 1)
    #expect(report.groups.map(\.key) == ["b"])
  }

  @Test func `entries are grouped by freshness, including unknown`() throws {
    var responses = (1...4).map { response($0, nil, status: 200, size: ByteCount($0) * 10) }
    for (index, value) in ["max-age=5", "max-age=0", "public"].enumerated() {
      responses[index].stored = now
      responses[index].responseHeaders = HeaderFields([
        .init(name: "Cache-Control", value: ByteString(value))
      ])
    }
    let report = try UsageReport(
      of: store(responses), by: .freshness, capacityBytes: nil, now: now)
    #expect(report.groups.map(\.key) == [nil, "no-lifetime", "stale", "fresh"])
    #expect(report.freshness == [.fresh: 1, .stale: 1, .noLifetime: 1, nil: 1])
    let other = try UsageReport(of: store(responses), by: .host, capacityBytes: nil, now: now)
    #expect(other.freshness == [:])
  }

  @Test func `sizes whose sum overflows do not trap`() throws {
    let source = store((1...3).map { response($0, nil, status: 200, size: .max) })
    let report = try UsageReport(of: source, by: .status, capacityBytes: nil, now: now)
    #expect(report.bodyBytes == .max)
    #expect(report.groups.map(\.bytes) == [.max])
  }

  @Test func `the median only counts existing bodies`() throws {
    #expect(try median(of: []) == nil)
    #expect(try median(of: [nil, nil]) == nil)
    #expect(try median(of: [nil, 7, nil]) == .init(bytes: 7, isExact: true))
    #expect(try median(of: [9, 1, 5]) == .init(bytes: 5, isExact: true))
    #expect(try median(of: [9, 1, 5, 7]) == .init(bytes: 5, isExact: true))
    #expect(try median(of: [.max, .max]) == .init(bytes: .max, isExact: true))
    #expect(try median(of: [-1]) == .init(bytes: 0, isExact: true))
  }

  @Test func `the median of very many bodies is marked as approximate, within 1 in 2048`() throws {
    var state: UInt64 = 11
    let ranges: [(ClosedRange<Int64>, counts: [Int])] = [
      (0...2_047, [65_537]), (2_048...4_096, [65_537]), (0...(.max), [65_536, 65_537]),
      ((.max - 9)...(.max), [65_537]),
    ]
    for (range, counts) in ranges {
      for count in counts {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        let sizes = (0..<count).map { _ in
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return ByteCount(range.lowerBound + Int64((state ^ state >> 33) % width))
        }
        let expected = sizes.sorted()[(count - 1) / 2]
        let found = try #require(try median(of: sizes))
        if count <= 65_536 || range.upperBound < 2_048 {
          #expect(found == .init(bytes: expected, isExact: true))
        } else {
          #expect(!found.isExact)
          let error = (found.bytes - expected).bytes.magnitude
          #expect(
            error <= expected.bytes.magnitude / 2_048, "seed 11: \(found.bytes) for \(expected)")
        }
      }
    }
  }

  @Test func `missing bodies and stored times are counted`() throws {
    var first = response(1, nil, status: 200, size: nil)
    first.bodyLocation = .missing
    first.stored = Timestamp(secondsSince1970: 5)
    var second = response(2, nil, status: 200, size: 1)
    second.bodyLocation = .file
    second.stored = Timestamp(secondsSince1970: -5)
    let report = try UsageReport(
      of: store([first, second, response(3, nil, status: 200, size: 1)]), by: nil,
      capacityBytes: nil, now: now)
    #expect(report.missingBodies == 1)
    #expect(report.storedTimes?.lowerBound.secondsSince1970 == -5)
    #expect(report.storedTimes?.upperBound.secondsSince1970 == 5)
  }

  @Test func `groups beyond the limit are summed up`() throws {
    let source = store([
      response(1, nil, status: 200, size: 10), response(2, nil, status: 201, size: .max),
      response(3, nil, status: 202, size: 30), response(4, nil, status: 202, size: 1),
    ])
    var report = try UsageReport(of: source, by: .status, capacityBytes: nil, now: now)
    #expect(report.rest == nil)
    report.cutGroups(to: 3)
    #expect(report.rest == nil)
    report.cutGroups(to: 2)
    #expect(report.groups.map(\.key) == ["201", "202"])
    #expect(report.rest == .init(groups: 1, entries: 1, bytes: 10))
    report.cutGroups(to: 0)
    #expect(report.groups.isEmpty)
    #expect(report.rest == .init(groups: 3, entries: 4, bytes: .max))
  }

  @Test func `groups that do not fit into memory are merged`() throws {
    let source = store(
      (0..<100).map {
        response($0, ByteString("https://host\($0 % 10)/"), status: 200, size: ByteCount($0))
      })
    var report = try UsageReport(
      of: source, by: .host, capacityBytes: nil, now: now, groupMemory: 3 * (128 + 5))
    #expect(report.groups.map(\.key) == ["host2", "host1", "host0"])
    #expect(report.groups.map(\.entries) == [10, 10, 10])
    #expect(report.rest == .init(groups: nil, entries: 70, bytes: 4_950 - 470 - 460 - 450))
    report.cutGroups(to: 1)
    #expect(report.rest == .init(groups: nil, entries: 90, bytes: 4_950 - 470))
  }

  @Test(arguments: [(400, 25.0, false), (400, 24.9, true), (400, 26, false), (nil, 0, false)])
  func `a limit is met or exceeded`(_ capacity: ByteCount?, _ percent: Double, _ exceeds: Bool)
    throws
  {
    var report = try UsageReport(of: store([]), by: nil, capacityBytes: capacity, now: now)
    #expect(!report.exceedsLimit)
    report.allowedPercent = percent
    #expect(report.exceedsLimit == exceeds)
  }

  private func median(of sizes: [ByteCount?]) throws -> UsageReport.Median? {
    let responses = sizes.enumerated().map { id, size in
      response(Int64(id), nil, status: nil, size: size)
    }
    return try UsageReport(of: store(responses), by: nil, capacityBytes: nil, now: now).median
  }

  /// Creates a store of files with 100 bytes each.
  private func store(_ responses: [StoredResponse]) -> MemoryStore {
    var store = MemoryStore(responses)
    store.size.databaseBytes = 100
    return store
  }

  private func response(_ id: Int64, _ url: ByteString?, status: Int64?, size: ByteCount?)
    -> StoredResponse
  {
    var response = StoredResponse(id: .row(id))
    response.url = url
    response.status = status
    response.bodySize = size
    return response
  }
}
