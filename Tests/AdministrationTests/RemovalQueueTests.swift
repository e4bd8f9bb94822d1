import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// The queue only keeps a part of many entries, so compare its result with sorting all of them.
@Suite struct RemovalQueueTests {
  private static let number = 150_000

  // The last is more than a plan keeps in memory before it knows how many it needs.
  private static let counts = [1, 15_000, 140_000]

  private struct Case: CustomTestStringConvertible {
    let seed: UInt64
    let order: [CacheLimits.Order]
    /// The number of entries to remove.
    let count: Int

    var testDescription: String { "seed \(seed), \(order), \(count) entries" }
  }

  private static let cases = counts.enumerated().flatMap { place, count in
    [[CacheLimits.Order.oldest], [.largest], [.largest, .oldest]].map {
      Case(seed: UInt64(place), order: $0, count: count)
    }
  }

  @Test(arguments: cases)
  private func `a limit removes the same entries as sorting all of them`(one: Case) throws {
    let store = Self.store(one.seed)
    let first = Self.sorted(store.responses, by: one.order).prefix(one.count)
    let ids = first.map(\.id).sorted()
    var limits = CacheLimits()
    limits.order = one.order
    limits.entries = Int64(Self.number - one.count)
    let now = try #require(Timestamp(secondsSince1970: 1_000_000))
    let byNumber = try RemovalPlan(enforcing: limits, on: store, among: Selection(), now: now)
    #expect(byNumber.entries.map(\.version.id) == ids)
    #expect(byNumber.meetsLimits == true)
    #expect(byNumber.kept == [.withinLimits: Self.sum(of: store.responses, without: first)])

    limits.entries = nil
    limits.bytes = store.size.totalBytes - first.reduce(0) { $0 + ($1.bodySize ?? 0) }
    let bySize = try RemovalPlan(enforcing: limits, on: store, among: Selection(), now: now)
    // Bodies of 0 bytes at the end free nothing.
    #expect(bySize.entries.count <= one.count && bySize.footprintAfter == limits.bytes)
    #expect(Set(bySize.entries.map(\.version.id)).isSubset(of: ids))
    #expect(bySize.entries.allSatisfy { $0.reason == .overSize })
  }

  /// Entries with bodies in files, in no order of time or size.
  private static func store(_ seed: UInt64) -> MemoryStore {
    var random = SplitMix64(seed: seed)
    var store = MemoryStore(
      (1...number).map { number in
        var response = StoredResponse(id: .row(Int64(number)))
        response.bodySize = ByteCount(Int(random.next() % 5_000))
        response.bodyLocation = .file
        let time = Double(random.next() % 20_000)
        response.stored = time < 100 ? nil : Timestamp(secondsSince1970: time)
        return response
      })
    // As large as an empty database, so that only files free space.
    store.size.databaseBytes = 49_152
    store.size.bodyFilesBytes = store.responses.reduce(0) { $0 + ($1.bodySize ?? 0) }
    store.tallyLength = 1_000
    return store
  }

  private static func sorted(
    _ responses: [StoredResponse], by order: [CacheLimits.Order]
  ) -> [StoredResponse] {
    responses.sorted { one, other in
      if order.first == .largest, one.bodySize != other.bodySize {
        return one.bodySize ?? 0 > other.bodySize ?? 0
      }
      // Without a time, an entry is removed last.
      let times = (
        one.stored?.secondsSince1970 ?? .infinity, other.stored?.secondsSince1970 ?? .infinity
      )
      return times.0 == times.1 ? one.id < other.id : times.0 < times.1
    }
  }

  private static func sum(
    of responses: [StoredResponse], without removed: ArraySlice<StoredResponse>
  ) -> KeptEntries {
    func bytes(_ responses: some Sequence<StoredResponse>) -> ByteCount {
      responses.reduce(0) { $0 + ($1.bodySize ?? 0) }
    }
    return KeptEntries(
      entries: Int64(responses.count - removed.count),
      bodyBytes: bytes(responses) - bytes(removed))
  }
}
