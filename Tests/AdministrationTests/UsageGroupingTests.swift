import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct UsageGroupingTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test(
    arguments: [
      (.scheme, ["https", nil, "http"]), (.host, ["a.example", nil, "b.example"]),
      (.partition, ["https://top.example", nil, ""]),
      (.storagePolicy, ["7", "memory-only", nil, "not-allowed", "allowed"]),
      (.status, ["200", nil]), (.mime, ["text/css", nil]), (.method, ["GET", nil]),
    ] as [(UsageReport.Grouping, [ByteString?])])
  func `entries are grouped by common values`(
    _ grouping: UsageReport.Grouping, _ keys: [ByteString?]
  ) throws {
    var responses = (0..<5).map { StoredResponse(id: .row($0)) }
    for (index, size) in [1, 100, 5_000, 40, 9_000].enumerated() {
      responses[index].bodySize = ByteCount(size)
    }
    responses[0].url = "http://b.example/"
    responses[2].url = "HTTPS://A.example/1"
    responses[4].url = "https://a.example:443/2"
    responses[0].partition = ""
    responses[4].partition = "https://top.example"
    responses[0].storagePolicy = .allowed
    responses[2].storagePolicy = .allowedInMemoryOnly
    responses[3].storagePolicy = .notAllowed
    responses[4].storagePolicy = .unknown(7)
    responses[4].status = 200
    responses[4].mimeType = "Text/CSS"
    responses[4].request.method = "GET"
    let report = try UsageReport(
      of: MemoryStore(responses), by: grouping, capacityBytes: nil, now: now)
    #expect(report.groups.map(\.key) == keys)
    #expect(report.groups.reduce(0) { $0 + $1.entries } == 5)
    #expect(report.groups.reduce(0) { $0 + $1.bytes } == 14_141)
    #expect(report.rest == nil)
    #expect(report.histograms == nil)
  }

  @Test func `an entry counts in the group of each directive, and in one group of validators`()
    throws
  {
    let headers: [[(String, String)]?] = [
      [
        ("Cache-Control", "max-age=1, no-cache"), ("cache-control", "MAX-AGE=2"), ("ETag", "\"a\""),
      ],
      [("Cache-Control", "unheard-of"), ("Last-Modified", "Wed, 08 Oct 2025 00:00:00 GMT")],
      [("ETag", "W/\"a\""), ("Last-Modified", "Wed, 08 Oct 2025 00:00:00 GMT")],
      [("Cache-Control", "no-store")], nil,
    ]
    let source = MemoryStore(
      headers.enumerated().map { index, fields in
        var response = StoredResponse(id: .row(Int64(index)))
        response.stored = now
        response.bodySize = ByteCount(10 - index)
        response.responseHeaders = fields.map { fields in
          HeaderFields(fields.map { .init(name: ByteString($0.0), value: ByteString($0.1)) })
        }
        return response
      })
    func groups(by grouping: UsageReport.Grouping) throws -> [UsageReport.Group] {
      try UsageReport(of: source, by: grouping, capacityBytes: nil, now: now).groups
    }
    #expect(
      try groups(by: .directive) == [
        .init(key: "none", entries: 2, bytes: 17), .init(key: "max-age", entries: 1, bytes: 10),
        .init(key: "no-cache", entries: 1, bytes: 10), .init(key: "no-store", entries: 1, bytes: 7),
        .init(key: nil, entries: 1, bytes: 6),
      ])
    #expect(
      try groups(by: .validator) == [
        .init(key: "strong etag", entries: 1, bytes: 10),
        .init(key: "last-modified", entries: 1, bytes: 9),
        .init(key: "weak etag, last-modified", entries: 1, bytes: 8),
        .init(key: "none", entries: 1, bytes: 7), .init(key: nil, entries: 1, bytes: 6),
      ])
  }

  @Test func `age ranges have the stated bounds`() throws {
    let (hour, day) = (3_600.0, 86_400.0)
    let bounds: [(ByteString, first: Double, last: Double)] = [
      ("in the future", -1e9, -1), ("under 1 h", 0, hour - 1), ("1-6 h", hour, 6 * hour - 1),
      ("6-24 h", 6 * hour, day - 1), ("1-3 d", day, 3 * day - 1), ("3-7 d", 3 * day, 7 * day - 1),
      ("1-2 w", 7 * day, 14 * day - 1), ("2-4 w", 14 * day, 28 * day - 1),
      ("1-3 mo", 28 * day, 91 * day - 1), ("3-6 mo", 91 * day, 182 * day - 1),
      ("6-12 mo", 182 * day, 365 * day - 1), ("1 y or more", 365 * day, 1e10),
    ]
    let ages = bounds.flatMap { [$0.first, $0.last] }
    let source = MemoryStore(
      ages.enumerated().map { index, age in
        var response = StoredResponse(id: .row(Int64(index)))
        response.stored = Timestamp(secondsSince1970: now.secondsSince1970 - age)
        response.bodySize = 1
        return response
      })
    let report = try UsageReport(of: source, by: .age, capacityBytes: nil, now: now)
    let expected = bounds.map { UsageReport.Group(key: $0.0, entries: 2, bytes: 2) }
    #expect(report.groups == expected)
  }

  @Test func `size ranges have the stated bounds`() throws {
    let bounds: [(ByteString, first: ByteCount, last: ByteCount)] = [
      ("0 B", .min, 0), ("under 1 KiB", 1, 1_023), ("1-4 KiB", 1_024, 4_095),
      ("4-16 KiB", 4_096, 16_383), ("16-64 KiB", 16_384, 65_535),
      ("64-256 KiB", 65_536, 262_143), ("256 KiB-1 MiB", 262_144, 1_048_575),
      ("1-4 MiB", 1_048_576, 4_194_303), ("4-16 MiB", 4_194_304, 16_777_215),
      ("16-64 MiB", 16_777_216, 67_108_863), ("64 MiB or more", 67_108_864, .max),
    ]
    let sizes = bounds.flatMap { [$0.first, $0.last] }
    let report = try UsageReport(of: store(sizes), by: .size, capacityBytes: nil, now: now)
    #expect(report.groups.map(\.key) == bounds.map(\.0))
    #expect(report.groups.allSatisfy { $0.entries == 2 })
    #expect(report.groups[1...9].map(\.bytes) == bounds[1...9].map { $0.first + $0.last })
  }

  @Test func `empty ranges appear in histograms, but not in groups`() throws {
    var responses = [1, 2_000, 3_000, 70_000_000].enumerated().map { index, size in
      var response = StoredResponse(id: .row(Int64(index)))
      response.bodySize = ByteCount(size)
      return response
    }
    responses[0].stored = now
    responses[3].stored = Timestamp(secondsSince1970: now.secondsSince1970 - 8 * 86_400)
    responses.append(StoredResponse(id: .row(9)))
    let report = try UsageReport(
      of: MemoryStore(responses), by: .size, capacityBytes: nil, now: now, withHistograms: true)
    #expect(
      report.groups == [
        .init(key: "under 1 KiB", entries: 1, bytes: 1),
        .init(key: "1-4 KiB", entries: 2, bytes: 5_000),
        .init(key: "64 MiB or more", entries: 1, bytes: 70_000_000),
        .init(key: nil, entries: 1, bytes: 0),
      ])
    let histograms = try #require(report.histograms)
    #expect(histograms.sizes.filter { $0.entries > 0 } == report.groups)
    #expect(histograms.sizes.map(\.entries) == [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    #expect(histograms.ages.map(\.entries) == [0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3])
    #expect(histograms.ages.last == .init(key: nil, entries: 3, bytes: 5_000))
  }

  @Test(
    arguments: [
      (nil, .apple, nil), (2_000, .apple, 2), (2_019, .apple, 2), (2_020, .apple, 1),
      (2_040, .apple, 0), (19, .apple, 3), (.max, .apple, 0), (2_000, .foundation, nil),
    ] as [(ByteCount?, StoreDescription.Format, Int64?)])
  func `bodies of more than a twentieth of the capacity are counted`(
    _ capacity: ByteCount?, _ format: StoreDescription.Format, _ count: Int64?
  ) throws {
    var source = store([0, 100, 101, 102])
    source.description = StoreDescription(
      path: "memory", format: format, schemaVersion: nil)
    let report = try UsageReport(of: source, by: nil, capacityBytes: capacity, now: now)
    #expect(report.oversizedBodies == count)
  }

  private func store(_ sizes: [ByteCount]) -> MemoryStore {
    MemoryStore(
      sizes.enumerated().map { index, size in
        var response = StoredResponse(id: .row(Int64(index)))
        response.bodySize = size
        return response
      })
  }
}
