import Foundation
import SQLitePages
import Testing

@Suite struct HostileTests {
  /// The number of changed pages; more with `THOROUGH=1`.
  private static let count =
    ProcessInfo.processInfo.environment["THOROUGH"] == "1" ? 200_000 : 2_000

  @Test func `no changed page stops the program`() throws {
    var random = SplitMix64(seed: 20)
    var originals: [[UInt8]] = []
    for name in ["plain-512-0-0.db", "plain-512-2-32.db", "plain-1024-1-0.db", "plain-4096-0-0.db"]
    {
      let bytes = try Databases.bytes(name)
      let size = try #require(DatabaseHeader(bytes)).pageSize
      originals += stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<$0 + size]) }
    }
    var cells = 0
    for _ in 0..<Self.count {
      var page = originals[Int.random(in: 0..<originals.count, using: &random)]
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        // Half of the changes are in the headers.
        let limit = Bool.random(using: &random) ? 24 : page.count
        let values: [UInt8] = [
          0, 1, 5, 13, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random),
        ]
        page[Int.random(in: 0..<limit, using: &random)] =
          values[Int.random(in: 0..<values.count, using: &random)]
      }
      if Int.random(in: 0..<10, using: &random) == 0 {
        page.removeLast(Int.random(in: 0...page.count, using: &random))
      }
      cells += try exercise(page)
    }
    #expect(cells > Self.count)
  }

  @Test func `no changed database keeps a walk from ending`() throws {
    var random = SplitMix64(seed: 21)
    let bytes = try Databases.bytes("plain-512-2-0.db")
    for _ in 0..<200 {
      var changed = bytes
      for _ in 0..<40 {
        changed[Int.random(in: 0..<changed.count, using: &random)] = .random(
          in: 0...40, using: &random)
      }
      if Bool.random(using: &random) {
        changed.removeLast(Int.random(in: 0..<changed.count, using: &random))
      }
      var pages = MemoryPages(bytes: changed, pageSize: 512)
      var buffer: [UInt8] = []
      for root in 1...UInt32(12) {
        let tree = Tree(root: root, usableSize: 512)
        var visited = PageSet(upTo: pages.pageCount)
        pages.reads = 0
        try tree.forEachPage(visited: &visited, reading: &pages) { _, _, _, _ in }
        #expect(pages.reads <= Int(pages.pageCount))
        var (size, records) = (changed.count, 0)
        _ = try tree.forEachIndexRecord(
          pageCount: pages.pageCount, longest: 4_096, reading: &pages
        ) { record in
          (size, records) = (max(size, record.count), records + 1)
          return true
        }
        #expect(size <= max(changed.count, 4_096) && records <= changed.count)
        _ = try tree.forEachRow(pageCount: pages.pageCount, reading: &pages) { pages, page, cell in
          _ = try cell.payload.read(
            4_096, of: page, usableSize: 512, into: &buffer, from: &pages)
          return true
        }
        _ = try tree.row(77, reading: &pages, into: &buffer)
        let list = try FreeList(
          from: root, usableSize: 512, pageCount: pages.pageCount, reading: &pages)
        #expect(list.leaves.highest == pages.pageCount)
      }
    }
  }

  /// Reads a page in every way, and returns the number of cells that it has.
  private func exercise(_ page: [UInt8]) throws -> Int {
    let span = page.span
    var cells = 0
    _ = DatabaseHeader(span)
    for usable in [page.count, page.count - 32, 512] {
      for number in [UInt32(1), 2] {
        guard let tree = BTreePage(span, number: number, usableSize: usable) else { continue }
        for block in tree.freeBlocks(in: span) { #expect(block.upperBound <= usable) }
        #expect(tree.unallocated.upperBound <= usable)
        for payload in tree.overflowingPayloads(in: span) {
          #expect(payload.end <= usable && payload.firstOverflowPage >= 2)
        }
        for index in 0...min(tree.cellCount, 500) {
          _ = tree.child(index, in: span)
          guard let start = tree.offset(ofCell: index, in: span),
            let cell = RowCell(span, at: start, usableSize: usable)
          else { continue }
          cells += 1
          #expect(cell.payload.end <= usable)
          let header = RecordHeader(
            span, at: cell.payload.local.lowerBound, before: cell.payload.local.upperBound)
          let local = Array(page[cell.payload.local])
          for index in 0..<(header?.values.count ?? 0) {
            _ = header?.integer(index, in: local.span)
            _ = header?.real(index, in: local.span)
          }
          var chain = OverflowChain(of: cell.payload, usableSize: usable)
          var steps = 0
          while chain.advance(over: span) != nil { steps += 1 }
          #expect(steps <= cell.payload.size)
        }
      }
      CellCarver([CarvingTests.shape, Self.index], usableSize: usable)
        .forEachCell(in: span, 0..<page.count) { cell in
          cells += 1
          #expect(cell.payload.end <= usable)
          return cells % 3 == 0 ? cell.payload.size : nil
        }
      _ = FreeList.remains(inTrunk: span, usableSize: usable)
    }
    if var log = WriteAheadLog(span) { _ = log.next(span, at: 32) }
    _ = RollbackJournal(span, pageSize: 512)
    return cells
  }

  private static let index = RecordShape([.init(.text), .init(.integer)], isIndex: true)
}

/// A random number generator with the same sequence in every run: SplitMix64.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var result = state
    result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
    result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
    return result ^ (result >> 31)
  }
}
