@testable import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// The queue only keeps a part of many entries, so compare its result with sorting all of them.
@Suite struct RemovalQueueTests {
  private struct Case: CustomTestStringConvertible {
    let seed: UInt64
    let order: [CacheLimits.Order]
    /// The number of entries to remove.
    let count: Int

    var testDescription: String { "seed \(seed), \(order), \(count) entries" }
  }

  private static let cases = [1, 15_000, 45_000].enumerated().flatMap { place, count in
    [[CacheLimits.Order.oldest], [.largest], [.largest, .oldest]].map {
      Case(seed: UInt64(place), order: $0, count: count)
    }
  }

  @Test(arguments: cases)
  private func `a queue has the same entries as sorting all of them`(one: Case) throws {
    let entries = Self.entries(one.seed)
    let first = Self.sorted(entries, by: one.order).prefix(one.count)
    var limits = CacheLimits()
    limits.order = one.order
    limits.entries = Int64(entries.count - one.count)
    #expect(Self.removed(entries, by: limits) == first.map(\.version.id))

    limits.entries = nil
    limits.bytes = Self.bytes(entries) - Self.bytes(first)
    // Bodies of 0 bytes at the end free nothing.
    let needed = first.reversed().drop { $0.size == 0 }.reversed()
    #expect(Self.removed(entries, by: limits) == needed.map(\.version.id))
  }

  @Test func `a queue that would need too many entries keeps none`() {
    let entries = Self.entries(7)
    var limits = CacheLimits()
    limits.entries = Int64(entries.count - 20_000)
    let excess = LimitExcess(limits, of: Self.plan(of: entries))
    for (most, hasOverflowed) in [(19_999, true), (20_000, false)] {
      var queue = RemovalQueue(in: limits, until: excess, atMost: most)
      for entry in entries { queue.insert(entry) }
      #expect(queue.hasOverflowed == hasOverflowed)
    }
  }

  private static func removed(
    _ entries: [RemovalPlan.Entry], by limits: CacheLimits
  ) -> [StoredResponse.ID] {
    var excess = LimitExcess(limits, of: plan(of: entries))
    var queue = RemovalQueue(in: limits, until: excess)
    for entry in entries { queue.insert(entry) }
    let removed = queue.removeNeeded(updating: &excess)
    #expect(!excess.isOver && removed.allSatisfy { $0.reason != .selected })
    return removed.map(\.version.id)
  }

  /// Entries with bodies in files, in no order of time or size.
  private static func entries(_ seed: UInt64) -> [RemovalPlan.Entry] {
    var random = SplitMix64(seed: seed)
    return (1...60_000).map { number in
      let time = Double(random.next() % 20_000)
      return RemovalPlan.Entry(
        version: ResponseVersion(
          id: .row(Int64(number)), key: nil,
          stored: time < 100 ? nil : Timestamp(secondsSince1970: time), file: nil),
        url: nil, size: ByteCount(Int(random.next() % 5_000)), hasBodyFile: true, reason: .selected)
    }
  }

  private static func plan(of entries: [RemovalPlan.Entry]) -> RemovalPlan {
    var plan = RemovalPlan(of: MemoryStore().description)
    plan.storedEntries = Int64(entries.count)
    // As large as an empty database, so that only files free space.
    plan.footprint.databaseBytes = 49_152
    plan.footprint.bodyFilesBytes = bytes(entries) - 49_152
    return plan
  }

  private static func bytes(_ entries: some Sequence<RemovalPlan.Entry>) -> ByteCount {
    entries.reduce(0) { $0 + ($1.size ?? 0) }
  }

  private static func sorted(
    _ entries: [RemovalPlan.Entry], by order: [CacheLimits.Order]
  ) -> [RemovalPlan.Entry] {
    entries.sorted { one, other in
      if order.first == .largest, one.size != other.size { return one.size ?? 0 > other.size ?? 0 }
      // Without a time, an entry is removed last.
      let times = [one, other].map { $0.version.stored?.secondsSince1970 ?? .infinity }
      return times[0] == times[1] ? one.version.id < other.version.id : times[0] < times[1]
    }
  }
}
