import ResponseStorage
import Testing

@testable import Administration

@Suite struct SortedDigestsTests {
  @Test(arguments: [0, 1, 7, 300, 5_000])
  func `runs in a file have the order of one run in memory`(_ count: Int) throws {
    let items = (0..<count).map { number in
      // Few values in the first half, so that the second decides often.
      SortedDigests.Item(
        digest: ContentDigest(
          high: UInt64(number * 7 % 5) << 62, low: UInt64(number) &* 0x9E37_79B9_7F4A_7C15),
        id: Int64(number) - 2)
    }
    let expected = items.sorted { $0.digest < $1.digest }.map(\.id)
    for runLength in [1, 3, 2_100, .max] where runLength > count / 100 {
      var sorted = SortedDigests(temporaryFolder: "/tmp", runLength: runLength)
      for item in items { try sorted.append(item) }
      var merged = try sorted.merged()
      var ids: [Int64] = []
      while let item = try merged.next() { ids.append(item.id) }
      #expect(ids == expected, "\(count) in runs of \(runLength)")
    }
  }
}
