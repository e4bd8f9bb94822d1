import Foundation
import SQLitePages
import Testing

@Suite struct CarvingTests {
  /// The rows of `t`: the id is the row id, the number has a few bytes, the BLOB any length.
  static let shape = RecordShape([.init(.null), .init(.integer), .init(.blob)])

  @Test(arguments: Databases.plain)
  func `every removed row that is still there is found, and nothing else`(name: String) throws {
    let bytes = try Databases.bytes(name)
    let header = try #require(DatabaseHeader(bytes))
    let usable = header.usableSize
    let rowCount = Databases.rowCount(pageSize: header.pageSize)
    let contents = (0...rowCount).map { Databases.content($0, pageSize: header.pageSize) }
    let remains = contents.indices.map { Self.record($0, contents[$0]) }
    var pages = MemoryPages(bytes: bytes, pageSize: header.pageSize)
    let free = try FreeList(
      from: header.firstFreePage, usableSize: usable, pageCount: pages.pageCount, reading: &pages)
    let carver = CellCarver([Self.shape], usableSize: usable)
    var found: Set<Int> = []
    var there: Set<Int> = []
    for number in 1...pages.pageCount where !free.trunks.contains(number) {
      var page: [UInt8] = []
      _ = try pages.read(number, into: &page)
      var regions = [0..<usable]
      if !free.leaves.contains(number) {
        guard let tree = BTreePage(page.span, number: number, usableSize: usable),
          tree.kind == .tableLeaf
        else { continue }
        regions = tree.freeBlocks(in: page.span) + [tree.unallocated]
      }
      for region in regions {
        let part = Data(page[region])
        for id in 1...rowCount where remains[id].count <= usable - 40 {
          // With the four bytes that can be overwritten in front of it.
          if let place = part.range(of: remains[id]), place.lowerBound - part.startIndex >= 3 {
            there.insert(id)
          }
        }
        var hasCell = false
        carver.forEachCell(in: page.span, region) { cell in
          hasCell = true
          let local = Array(page[cell.payload.local])
          guard let product = cell.header.integer(1, in: local.span), product % 1_000_003 == 0,
            1...Int64(rowCount) ~= product / 1_000_003
          else { return nil }
          let id = Int(product / 1_000_003)
          let range = cell.header.values[2].range
          guard range.count == contents[id].count else { return nil }
          let here = range.clamped(to: 0..<local.count)
          guard local[here] == contents[id].prefix(here.count) else { return nil }
          #expect(cell.rowID.map(Int.init) ?? id == id)
          found.insert(id)
          return cell.payload.size
        }
        let hasAny = carver.hasCell(in: page.span, region) { _ in true }
        let hasNone = carver.hasCell(in: page.span, region) { _ in false }
        #expect(hasAny == hasCell && !hasNone)
      }
    }
    #expect(there.subtracting(found) == [])
    // With a full vacuum the file is cut, and nearly nothing is left.
    #expect(there.count > (name.contains("-1-") ? 1 : 8))
  }

  /// Returns the record of a row from the type of its second value on.
  private static func record(_ number: Int, _ content: [UInt8]) -> Data {
    let product = UInt32(number * 1_000_003)
    let size = product < 1 << 23 ? 3 : 4
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: product >> UInt32(8 * (size - 1 - $0))) }
    return Data([UInt8(size)] + variableInteger(UInt64(content.count * 2 + 12)) + bytes + content)
  }

  @Test func `a cell is found whose first four bytes are overwritten`() throws {
    // Record headers of three bytes and of five, with payload lengths of one and two bytes.
    for (length, idSize) in [(10, 1), (10, 2), (10, 3), (200, 1), (200, 2), (9_000, 1)] {
      let content =
        Databases.content(length, pageSize: 2).map { $0 &+ 1 }
        + [UInt8](repeating: 9, count: length)
      let types = [UInt8(0), 4] + Self.variableInteger(UInt64(content.count * 2 + 12))
      let record = [UInt8(types.count + 1)] + types + [0, 1, 2, 3] + content
      let id: [UInt8] = [[5], [0x85, 5], [0x81, 0x85, 5]][idSize - 1]
      let cell = Self.variableInteger(UInt64(record.count)) + id + record
      var page = [UInt8](repeating: 0, count: 16_384)
      page.replaceSubrange(500..<500 + cell.count, with: cell)
      let carver = CellCarver([Self.shape], usableSize: 16_384)
      for isCut in [false, true] {
        if isCut { page.replaceSubrange(500..<504, with: [0, 0, 3, 1]) }
        var cells: [CellCarver.Cell] = []
        carver.forEachCell(in: page.span, 500..<500 + cell.count) {
          cells.append($0)
          return $0.payload.size
        }
        let found = try #require(cells.first, "\(length) \(idSize) \(isCut)")
        #expect(cells.count == 1)
        #expect(found.header.size == record.count)
        #expect(found.payload.local.upperBound == 500 + cell.count)
        #expect(
          Array(page[found.payload.local.suffix(content.count)]) == content, "\(length) \(idSize)")
        #expect((found.rowID != nil) == !isCut)
      }
    }
  }

  private static func variableInteger(_ value: UInt64) -> [UInt8] {
    value < 0x80
      ? [UInt8(value)]
      : value < 0x4000
        ? [UInt8(value >> 7) | 0x80, UInt8(value & 0x7F)]
        : [UInt8(value >> 14) | 0x80, UInt8(value >> 7 & 0x7F) | 0x80, UInt8(value & 0x7F)]
  }

  @Test func `a cell that does not end inside the region is cut`() throws {
    let record: [UInt8] = [4, 0, 1, 22, 7] + [1, 2, 3, 4, 5]
    let page = [UInt8(record.count), 9] + record + [UInt8](repeating: 0, count: 500)
    let carver = CellCarver([Self.shape], usableSize: 512)
    for end in 0...20 {
      var count = 0
      carver.forEachCell(in: page.span, 0..<end) {
        #expect($0.rowID == 9 && $0.isCut == (end < 12) && $0.payload.end <= end)
        count += 1
        return $0.payload.size
      }
      // Nothing is left of a record before the end of its header.
      #expect(count == (end < 6 ? 0 : 1), "\(end)")
    }
  }

  @Test(arguments: [4, 57, 58, 70, 127, 128, 1_000, 8_186, 12_000])
  func `an entry of an index is found whatever the length of its key`(length: Int) throws {
    let shape = RecordShape([.init(.text, lengths: 4...1 << 20), .init(.integer)], isIndex: true)
    let key = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
    let types = Self.variableInteger(UInt64(2 * length + 13)) + [2]
    let record = [UInt8(types.count + 1)] + types + key + [1, 44]
    let cell = Self.variableInteger(UInt64(record.count)) + record
    var page = [UInt8](repeating: 0, count: 65_536)
    page.replaceSubrange(500..<500 + cell.count, with: cell)
    let carver = CellCarver([Self.shape, shape], usableSize: 65_536)
    var cells: [CellCarver.Cell] = []
    carver.forEachCell(in: page.span, 400..<20_000) {
      guard $0.shape == 1, $0.header.values[0].range.count == length else { return nil }
      cells.append($0)
      return $0.payload.size
    }
    let found = try #require(cells.first)
    #expect(cells.count == 1)
    let id = found.header.integer(1, in: Array(page[found.payload.local]).span)
    let hasCell = carver.hasCell(in: page.span, 400..<20_000) { $0.shape == 1 }
    #expect(id == 300 && hasCell)
  }
}
