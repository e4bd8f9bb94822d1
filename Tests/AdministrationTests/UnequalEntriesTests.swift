import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct UnequalEntriesTests {
  @Test(arguments: [0, 1, 7, 300, 3_000])
  func `entries are paired with the lowest ids first, in whatever order they come`(
    _ count: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(count))
    // Few digests, so that many entries are equal; and some have none.
    func entries(_ count: Int) -> [(id: Int64, digest: UInt64?)] {
      (0..<count).map { number in
        (Int64(number) - 5, random.next() % 20 == 0 ? nil : random.next() % UInt64(count / 2 + 1))
      }
    }
    let (before, after) = (entries(count), entries(count))
    var rest = after.filter { $0.digest != nil }
    var expected: (first: [Int64], second: [Int64], equal: Int64) = ([], [], 0)
    for entry in before {
      if entry.digest != nil, let place = rest.firstIndex(where: { $0.digest == entry.digest }) {
        rest.remove(at: place)
        expected.equal += 1
      } else {
        expected.first.append(entry.id)
      }
    }
    expected.second = (rest + after.filter { $0.digest == nil }).map(\.id).sorted()
    for _ in 0..<3 {
      var unequal = UnequalEntries()
      for entry in before.shuffled(using: &random) {
        unequal.insertFirst(entry.id, entry.digest.map { ContentDigest(high: 7, low: $0) })
      }
      unequal.endFirst()
      for entry in after.shuffled(using: &random) {
        unequal.insertSecond(entry.id, entry.digest.map { ContentDigest(high: 7, low: $0) })
      }
      unequal.finish()
      #expect(unequal.first == expected.first && unequal.second == expected.second)
      #expect(unequal.equalCount == expected.equal)
    }
  }
}
