import SQLitePages
import Testing

@Suite struct PageSetTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `a set has the pages that were added, in every part of it`(seed: UInt64) {
    var numbers = SplitMix64(seed: seed)
    let highest = UInt32.random(in: 1...200_000, using: &numbers)
    var (set, other) = (PageSet(upTo: highest), PageSet(upTo: highest))
    var (pages, others): (Set<UInt32>, Set<UInt32>) = ([], [])
    for _ in 0..<Int.random(in: 0...300, using: &numbers) {
      let page = UInt32.random(in: 1...highest, using: &numbers)
      set.insert(page)
      pages.insert(page)
      let near = max(1, page / 40_000 * 40_000)
      other.insert(near)
      others.insert(near)
    }
    for _ in 0..<20 {
      let first = UInt32.random(in: 0...highest, using: &numbers)
      let range = first..<first + UInt32.random(in: 0...70_000, using: &numbers)
      var found: [UInt32] = []
      set.forEach(in: range) { found.append($0) }
      #expect(found == pages.filter(range.contains).sorted())
    }
    set.formUnion(other)
    var all: [UInt32] = []
    set.forEach { all.append($0) }
    #expect(all == pages.union(others).sorted())
  }
}
