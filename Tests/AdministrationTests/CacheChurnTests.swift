import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

private let now = Timestamp(nanosecondsSince1970: 1_800_000_000_000_000_000)

/// An entry that was first stored some days ago.
private func entry(_ row: Int64, daysAgo: Double?, size: Int64 = 10) -> StoredResponse {
  var response = StoredResponse(id: .row(row))
  response.firstStored = daysAgo.flatMap {
    Timestamp(secondsSince1970: now.secondsSince1970 - $0 * 86_400)
  }
  response.bodySize = ByteCount(size)
  response.bodyLocation = .inline
  return response
}

private func churn(_ entries: [StoredResponse], ever: Int64?) throws -> CacheChurn? {
  var store = MemoryStore(entries)
  store.everStored = ever
  store.tallyLength = 2
  let usage = try UsageReport(of: store, by: nil, capacityBytes: nil, now: now).churn
  let report = try CacheReport(
    of: store, at: now, expiryRules: [], capacityBytes: nil)
  #expect(report.usage.churn == usage)
  return usage
}

@Suite struct CacheChurnTests {
  @Test func `rates follow from the oldest and the newest entry`() throws {
    // 400 ids in 10 days, of which 5 are kept.
    let entries = [(101, 10), (200, 9), (300, 4), (450, 3), (501, 0)].map {
      entry($0.0, daysAgo: $0.1, size: 1_000)
    }
    let churn = try #require(try churn(entries, ever: 510))
    #expect((churn.stored, churn.kept, churn.removed) == (510, 5, 505))
    let rate = try #require(churn.rate)
    #expect(rate.entriesPerDay == 40)
    #expect(rate.bytesPerDay == 40_000)
    #expect(rate.lifetimeSeconds == 10_800)
    #expect(rate.times.upperBound == now)
  }

  @Test func `without removed entries there is no lifetime`() throws {
    let churn = try #require(
      try churn([entry(1, daysAgo: 2), entry(2, daysAgo: 1)], ever: 2))
    #expect(churn.removed == 0)
    #expect(churn.rate?.entriesPerDay == 1)
    #expect(churn.rate?.lifetimeSeconds == nil)
  }

  @Test(arguments: [
    [], [entry(9, daysAgo: 3)], [entry(1, daysAgo: 3), entry(9, daysAgo: nil)],
    [entry(1, daysAgo: 0.9), entry(9, daysAgo: 0)], [entry(1, daysAgo: 0), entry(9, daysAgo: 5)],
  ])
  func `entries that do not show a rate leave it out`(entries: [StoredResponse]) throws {
    let churn = try #require(try churn(entries, ever: 20))
    #expect(churn.kept == Int64(entries.count))
    #expect(churn.rate == nil)
  }

  @Test(arguments: [nil, -1, 0, 8, .min, .max, 1 << 53 + 1] as [Int64?])
  func `a counter that cannot be is unknown`(ever: Int64?) throws {
    #expect(try churn([entry(1, daysAgo: 3), entry(9, daysAgo: 0)], ever: ever) == nil)
  }

  @Test(arguments: [.min, -5, 0] as [Int64])
  func `ids that SQLite never gives make the counter unknown`(row: Int64) throws {
    #expect(try churn([entry(row, daysAgo: 3), entry(9, daysAgo: 0)], ever: 20) == nil)
  }

  @Test func `hostile sizes and times do not trap`() throws {
    var first = entry(1, daysAgo: nil, size: .max)
    first.firstStored = Timestamp.earliest
    let churn = try #require(
      try churn([first, entry(1 << 53, daysAgo: 0, size: .max)], ever: 1 << 53))
    #expect(churn.rate?.bytesPerDay == ByteCount(Int64(9e18)))
  }

  @Test func `selected entries alone are not counted`() throws {
    var store = MemoryStore([entry(1, daysAgo: 3)])
    store.everStored = 20
    var selection = Selection()
    selection.statuses = [200...200]
    let report = try UsageReport(
      of: store, by: nil, capacityBytes: nil, now: now, selection: selection)
    #expect(report.churn == nil)
  }
}
