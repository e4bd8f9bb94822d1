import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct CacheReportTests {
  private let now: Timestamp

  init() throws {
    // 2026-01-01T00:00:00Z
    now = try #require(Timestamp(secondsSince1970: 1_767_225_600))
  }

  @Test func `entries are summed by state, age, size, host and folder`() throws {
    let report = try report(on: [
      response(1, "https://a.example/f/g/h/1.js?x=/y", size: 30, daysOld: 2, "max-age=999999"),
      response(2, "https://A.example/f/g/2", size: 20, daysOld: 40, "max-age=1"),
      response(3, "https://a.example/3", size: 10, daysOld: 40, "max-age=1", "\"tag\""),
      response(4, "https://b.example?4", size: 5, daysOld: 400, "public"),
      response(5, nil, size: nil, daysOld: nil, nil),
    ])
    #expect(report.states[.fresh] == .init(entries: 1, bytes: 30))
    #expect(report.states[.expired] == .init(entries: 1, bytes: 20))
    #expect(report.states[.validatable] == .init(entries: 1, bytes: 10))
    #expect(report.states[.noLifetime] == .init(entries: 1, bytes: 5))
    #expect(report.states[.unknown] == .init(entries: 1, bytes: 0))
    #expect(report.staleBytes == 30)
    #expect(report.usage.entries == 5)
    #expect(report.usage.bodyBytes == 65)
    #expect(report.inlineBytes == 65)

    let ages = report.ages.filter { $0.sums.total.entries > 0 }
    #expect(ages.map(\.name) == ["1-3 d", "1-3 mo", "1 y or more", nil])
    #expect(ages.map(\.sums.total.bytes) == [30, 30, 5, 0])
    let month = try #require(report.ageLimits.first { $0.seconds == 30 * 86_400 })
    #expect(month.removed == .init(entries: 3, bytes: 35))
    let day = try #require(report.ageLimits.first { $0.seconds == 86_400 })
    #expect(day.fresh == .init(entries: 1, bytes: 30))
    #expect(report.sizes.map(\.largest) == [5, 11, 23, 31])

    #expect(report.hosts.map(\.name) == ["a.example", "b.example", nil])
    #expect(report.hosts.map(\.sum.bytes) == [60, 5, 0])
    #expect(report.hosts.map(\.staleBytes) == [30, 0, 0])
    #expect(report.hosts[0].folders.map(\.path) == ["/f/g", ""])
    #expect(report.hosts[0].folders[0].entries.map(\.id) == [.row(1), .row(2)])
    #expect(report.otherHosts == nil)
    #expect(report.largest.map(\.size) == [30, 20, 10, 5, 0])
    #expect(report.largest[0].url == "https://a.example/f/g/h/1.js?x=/y")
    #expect(report.findings.map(\.code.name) == [])
  }

  @Test(
    "old entries of nearly the same age are summed by date",
    arguments: [
      ([400, 401, 401], ["2024-11-26", "2024-11-27"]),
      ([400, 430, 490], ["2024-08", "2024-09", "2024-10", "2024-11"]),
      ([400, 1_500], (2021...2024).map { ByteString("\($0)") }),
      // A century has too many years, and one entry is younger than all dates that are counted.
      ([400, 30_000], nil), ([1, 400], nil), ([30, 120, 400], nil),
    ] as [([Double], [ByteString]?)])
  func ageDates(days: [Double], dates: [ByteString]?) throws {
    let responses = days.enumerated().map { index, days in
      response(Int64(index + 1), nil, size: 10, daysOld: days, nil)
    }
    let report = try report(on: responses)
    #expect(report.agesAreDates == (dates != nil))
    #expect(report.ages.reduce(0) { $0 + $1.sums.total.entries } == Int64(days.count))
    if let dates { #expect(report.ages.map(\.name) == dates) }
  }

  @Test func `an age limit removes the same entries as a selection by age`() throws {
    let offsets = [0, 0.25, -0.25, 1, -1, 86_000]
    for seed in 0..<6 as Range<UInt64> {
      var random = Seeded(state: seed)
      let responses = (1...200).map { (number: Int64) in
        // Half of the ages equal a limit to the second, or differ by less than one.
        let limit = AgeTally.limits.randomElement(using: &random) ?? 0
        let offset = offsets.randomElement(using: &random) ?? 0
        var response = StoredResponse(id: .row(number))
        response.stored = Timestamp(
          secondsSince1970: now.secondsSince1970 - Double(limit) + offset)
        response.bodySize = ByteCount(Int.random(in: 0..<1_000, using: &random))
        return response
      }
      let store = MemoryStore(responses)
      let report = try report(on: responses)
      for limit in report.ageLimits {
        var selection = Selection()
        selection.before = Timestamp(
          secondsSince1970: now.secondsSince1970 - Double(limit.seconds))
        let plan = try RemovalPlan(removing: selection, from: store, now: now)
        let removed = try plan.entries.array
        #expect(limit.removed.entries == Int64(removed.count), "seed \(seed), \(limit.seconds)")
        #expect(limit.removed.bytes == removed.reduce(0 as ByteCount) { $0 + ($1.size ?? 0) })
      }
    }
  }

  @Test func `every size has exactly one size class`() {
    var random = Seeded(state: 7)
    var sizes = (0...62).flatMap { power in [-1, 0, 1].map { (Int64(1) << power) + $0 } }
    sizes += (0..<2_000).map { _ in Int64.random(in: 0...(.max), using: &random) >> 20 }
    sizes += [0, .max, .max - 1]
    for size in sizes.map({ ByteCount($0) }) {
      var tally = SizeTally()
      tally.insert(size)
      let largest = tally.groups[0].largest
      #expect(largest >= size && (size < 8 ? largest - size < 1 : (largest - size) <= size / 4))
      guard largest < .max else { continue }
      var next = SizeTally()
      next.insert(largest)
      next.insert(largest + 1)
      #expect(next.groups.count == 2 && next.groups[0].largest == largest, "\(size)")
    }
  }

  @Test func `the remaining hosts and folders are summed up, however many there are`() throws {
    // 16,384 hosts are kept apart.
    let responses = (1...17_400).map { number in
      response(
        number, "https://h\(number % 17_000).example/f\(number)/x", size: 1 + number % 7,
        daysOld: 1, nil)
    }
    let report = try report(on: responses)
    #expect(report.hosts.count == 30)
    let others = try #require(report.otherHosts)
    #expect(others.groups == nil)
    let named = report.hosts.reduce(0 as ByteCount) { $0 + $1.sum.bytes }
    #expect(named + others.bytes == report.usage.bodyBytes)
    #expect(
      report.hosts.reduce(Int64(0)) { $0 + $1.sum.entries } + others.entries
        == report.usage.entries)
    #expect(report.hosts.allSatisfy { $0.folders.count <= 10 })
    #expect(report.largest.count == 120)
  }

  @Test func `the largest entries equal those from sorting`() throws {
    var random = Seeded(state: 3)
    let responses = (1...2_000).map { (number: Int64) in
      response(
        number, "https://a.example/", size: .random(in: 0..<50, using: &random), daysOld: 1, nil)
    }
    let sorted = responses.sorted {
      ($1.bodySize ?? 0, $0.id) < ($0.bodySize ?? 0, $1.id)
    }
    #expect(try report(on: responses).largest.map(\.id) == sorted.prefix(120).map(\.id))
  }

  @Test func `sizes saturate`() throws {
    let responses = (1...4).map { number in
      response(number, "https://a.example/", size: .max - number, daysOld: 40, "max-age=1")
    }
    let report = try report(on: responses)
    #expect(report.states[.expired] == .init(entries: 4, bytes: .max))
    #expect(report.hosts[0].sum.bytes == .max && report.hosts[0].staleBytes == .max)
    #expect(report.ageLimits[0].removed.bytes == .max)
  }

  @Test func `free actions are suggested first, and only supported ones`() throws {
    var store = MemoryStore([
      response(1, "https://a.example/", size: 100, daysOld: 40, "max-age=1")
    ])
    store.size.databaseBytes = 1_000
    store.size.freeBytes = 400
    store.size.orphanFiles = 2
    store.size.orphanBytes = 50
    store.findings = ["a", "b"].map { name in
      Finding(
        .init("orphan-body-file", .warning, "it takes up room", repair: .orphans), "it is there",
        orphan: OrphanFile(name: name, size: 25, modified: 0))
    }
    func actions(capacity: ByteCount?) throws -> [Suggestion] {
      try CacheReport(
        of: store, at: now, expiryRules: [], capacityBytes: capacity
      ).suggestions
    }
    #expect(
      try actions(capacity: nil) == [
        Suggestion(action: .removeOrphans, count: 2, bytes: 50),
        Suggestion(action: .compact, count: nil, bytes: 400),
        Suggestion(action: .purgeExpired, count: 1, bytes: 100),
        Suggestion(action: .purgeOlder(seconds: 30 * 86_400), count: 1, bytes: 100),
      ])
    store.size.freeBytes = 50
    #expect(
      try actions(capacity: 900) == [
        Suggestion(action: .removeOrphans, count: 2, bytes: 50),
        Suggestion(action: .enforce(capacity: 900), count: nil, bytes: 100),
        Suggestion(action: .purgeExpired, count: 1, bytes: 100),
        Suggestion(action: .purgeOlder(seconds: 30 * 86_400), count: 1, bytes: 100),
      ])
    store.findings = []
    #expect(
      try actions(capacity: 1_000) == [
        Suggestion(action: .purgeExpired, count: 1, bytes: 100),
        Suggestion(action: .purgeOlder(seconds: 30 * 86_400), count: 1, bytes: 100),
      ])
    (store.size.walBytes, store.size.shmBytes) = (600, 32)
    #expect(
      try actions(capacity: nil).first == Suggestion(action: .compact, count: nil, bytes: 682))
    store.description.inUse = true
    #expect(try actions(capacity: nil).map(\.action).contains(.compact) == false)
    store.findings = [
      Finding(.init("no-body-row", .error, "a row is missing", repair: .rows), "x", id: .row(1)),
      Finding(.init("undecodable", .error, "x", repair: .undecodable), "x", id: .row(1)),
    ]
    #expect(
      try actions(capacity: nil).first
        == Suggestion(action: .repair([.rows, .undecodable]), count: 1, bytes: 0))
    store.findings = [Finding(.damagedDatabase, "x")]
    #expect(try actions(capacity: 900) == [])
    store.findings = []
    store.description.readOnlyReason = "it has schema 11, but only schemas 25 to 203 can be changed"
    #expect(try actions(capacity: 900) == [])
  }

  private func report(on responses: [StoredResponse]) throws -> CacheReport {
    try CacheReport(
      of: MemoryStore(responses), at: now, expiryRules: UserInfoExpiry.known, capacityBytes: nil)
  }

  private func response(
    _ number: Int64, _ url: String?, size: Int64?, daysOld: Double?, _ cacheControl: String?,
    _ entityTag: String? = nil
  ) -> StoredResponse {
    var response = StoredResponse(id: .row(number))
    response.url = url.map { ByteString($0) }
    response.bodySize = size.map { ByteCount($0) }
    response.bodyLocation = size == nil ? .missing : .inline
    response.stored = daysOld.flatMap {
      Timestamp(secondsSince1970: now.secondsSince1970 - $0 * 86_400)
    }
    var fields: [HeaderFields.Field] = []
    if let cacheControl {
      fields.append(.init(name: "Cache-Control", value: ByteString(cacheControl)))
    }
    if let entityTag { fields.append(.init(name: "ETag", value: ByteString(entityTag))) }
    response.responseHeaders = HeaderFields(fields)
    return response
  }
}

/// A random number generator that depends only on its seed: SplitMix64.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
