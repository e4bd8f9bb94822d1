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
    /// The number of all entries, of those to remove, and of those in memory.
    let (all, count, most): (Int, Int, Int)

    var testDescription: String { "seed \(seed), \(order), \(count) of \(all), \(most) in memory" }
  }

  // In memory, and with a part of the entries in a file.
  private static let cases = [
    (40_000, 1, 65_536), (40_000, 9_000, 65_536), (40_000, 30_000, 65_536), (3_000, 1, 20),
    (3_000, 30, 50), (3_000, 37, 50), (3_000, 49, 50), (3_000, 50, 50), (3_000, 51, 50),
    (3_000, 700, 50), (3_000, 2_900, 50), (3_000, 3_000, 200),
  ].enumerated().flatMap { place, sizes in
    [[CacheLimits.Order.oldest], [.largest], [.largest, .oldest]].map {
      Case(seed: UInt64(place), order: $0, all: sizes.0, count: sizes.1, most: sizes.2)
    }
  }

  @Test(arguments: cases)
  private func `a queue has the same entries as sorting all of them`(one: Case) throws {
    let entries = Self.entries(one.all, one.seed)
    let first = Self.sorted(entries, by: one.order).prefix(one.count)
    var limits = CacheLimits()
    limits.order = one.order
    limits.entries = Int64(entries.count - one.count)
    #expect(try Self.removed(entries, by: limits, atMost: one.most) == first.map(\.version.id))

    limits.entries = nil
    limits.bytes = Self.bytes(entries) - Self.bytes(first)
    // Bodies of 0 bytes at the end free nothing.
    let needed = first.reversed().drop { $0.size == 0 }.reversed()
    #expect(try Self.removed(entries, by: limits, atMost: one.most) == needed.map(\.version.id))
  }

  private static func removed(
    _ entries: [RemovalPlan.Entry], by limits: CacheLimits, atMost most: Int
  ) throws -> [StoredResponse.ID] {
    var excess = LimitExcess(limits, of: plan(of: entries))
    excess.settleMarks(leastBytes: 0, leastEntries: 0)
    var queue = RemovalQueue(in: limits, until: excess, atMost: most)
    for entry in entries { try queue.insert(entry) }
    var ids: [StoredResponse.ID] = []
    try queue.removeNeeded(updating: &excess) { entry in
      #expect(entry.reason != .selected)
      ids.append(entry.version.id)
    }
    #expect(!excess.isOver)
    return ids
  }

  /// Entries with bodies in files, in no order of time or size.
  private static func entries(_ count: Int, _ seed: UInt64) -> [RemovalPlan.Entry] {
    var random = SplitMix64(seed: seed)
    return (1...count).map { number in
      let time = Double(random.next() % 20_000)
      var entry = RemovalPlan.Entry(
        version: ResponseVersion(
          id: .row(Int64(number)), key: nil,
          stored: time < 100 ? nil : Timestamp(secondsSince1970: time), file: nil),
        url: nil, size: ByteCount(Int(random.next() % 5_000)), hasBodyFile: true, reason: .selected)
      entry.share.file = entry.size ?? 0
      return entry
    }
  }

  private static func plan(of entries: [RemovalPlan.Entry]) -> RemovalPlan {
    var plan = RemovalPlan(of: MemoryStore().description)
    plan.storedEntries = Int64(entries.count)
    for entry in entries { plan.space.insert(entry.share) }
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
