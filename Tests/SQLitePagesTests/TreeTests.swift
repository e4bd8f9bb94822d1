import SQLitePages
import Testing

@Suite struct TreeTests {
  @Test(arguments: Databases.plain)
  func `every row is read, and every page is accounted for`(name: String) throws {
    let bytes = try Databases.bytes(name)
    let header = try #require(DatabaseHeader(bytes))
    let usable = header.usableSize
    #expect(name.hasPrefix("plain-\(header.pageSize)-"))
    #expect(header.hasPointerMap == !name.hasPrefix("plain-\(header.pageSize)-0"))
    #expect(header.reservedBytes == (name.hasSuffix("-32.db") ? 32 : 0))
    var pages = MemoryPages(bytes: bytes, pageSize: header.pageSize)
    #expect(pages.pageCount == header.pageCount)
    var visited = PageSet(upTo: pages.pageCount)
    var overflow: [UInt32] = []
    var rows: [Int64] = []
    for name in [nil, "t", "i"] {
      let root = try name.map { try #require(try pages.root(of: $0, usableSize: usable)) } ?? 1
      try Tree(root: root, usableSize: usable).forEachPage(visited: &visited, reading: &pages) {
        pages, _, page, tree in
        let tree = try #require(tree)
        guard tree.kind == .tableLeaf, root != 1 else { return }
        for index in 0..<tree.cellCount {
          let start = try #require(tree.offset(ofCell: index, in: page))
          let cell = try #require(RowCell(page, at: start, usableSize: usable))
          let record = RecordHeader(page.span, of: cell)
          let values = try #require(record?.values)
          for (index, value) in values.enumerated() {
            let range = RecordHeader.range(ofValue: index, in: page.span, of: cell)
            #expect(range == value.range)
          }
          let missing = RecordHeader.range(ofValue: values.count, in: page.span, of: cell)
          #expect(missing == nil)
          let payload = try #require(
            try pages.payload(cell.payload, in: page, usableSize: usable, visiting: &overflow))
          try expect(payload, isRow: Int(cell.rowID), pageSize: header.pageSize)
          rows.append(cell.rowID)
        }
      }
    }
    let written = 1...Int64(Databases.rowCount(pageSize: header.pageSize))
    #expect(rows == written.filter { Databases.isKept(Int($0)) })
    let free = try FreeList(
      from: header.firstFreePage, usableSize: usable, pageCount: pages.pageCount, reading: &pages)
    #expect(free.isComplete)
    var freeCount: UInt32 = 0
    for page in 1...pages.pageCount {
      let isFree = free.trunks.contains(page) || free.leaves.contains(page)
      freeCount += isFree ? 1 : 0
      // Each page has exactly one purpose.
      let purposes = [
        visited.contains(page), overflow.contains(page), isFree, header.isPointerMap(page),
      ]
      #expect(purposes.filter { $0 }.count == 1, "page \(page): \(purposes)")
    }
    #expect(freeCount == header.freePageCount)
  }

  @Test(arguments: Databases.plain)
  func `an index has the ids of all rows, in the order of its values`(name: String) throws {
    let bytes = try Databases.bytes(name)
    let header = try #require(DatabaseHeader(bytes))
    let usable = header.usableSize
    var pages = MemoryPages(bytes: bytes, pageSize: header.pageSize)
    var rows: [Int64] = []
    let table = try #require(try pages.root(of: "t", usableSize: usable))
    let index = try #require(try pages.root(of: "i", usableSize: usable))
    let isWhole = try Tree(root: table, usableSize: usable).forEachRow(
      pageCount: pages.pageCount, reading: &pages
    ) { _, _, cell in
      rows.append(cell.rowID)
      return true
    }
    var (ids, values): ([Int64], [Int64]) = ([], [])
    let isComplete = try Tree(root: index, usableSize: usable).forEachIndexRecord(
      pageCount: pages.pageCount, longest: 1 << 20, reading: &pages
    ) { record in
      let header = RecordHeader(record, at: 0, before: record.count)
      let (value, id) = (header?.integer(0, in: record), header?.integer(1, in: record))
      values.append(try #require(value))
      ids.append(try #require(id))
      return true
    }
    #expect(isWhole && isComplete)
    #expect(!ids.isEmpty && ids.sorted() == rows)
    #expect(values == values.sorted())
    // A page of the other kind ends either walk.
    #expect(
      try !Tree(root: index, usableSize: usable)
        .forEachRow(pageCount: pages.pageCount, reading: &pages) { _, _, _ in true })
    #expect(
      try !Tree(root: table, usableSize: usable).forEachIndexRecord(
        pageCount: pages.pageCount, longest: 1 << 20, reading: &pages
      ) { _ in true })
  }

  @Test(arguments: Databases.plain)
  func `interior pages and leaves are all pages of a tree`(name: String) throws {
    let bytes = try Databases.bytes(name)
    let usable = try #require(DatabaseHeader(bytes)).usableSize
    var pages = MemoryPages(bytes: bytes, pageSize: try #require(DatabaseHeader(bytes)).pageSize)
    for name in [nil, "t", "i"] {
      let root = try name.map { try #require(try pages.root(of: $0, usableSize: usable)) } ?? 1
      let tree = Tree(root: root, usableSize: usable)
      var all = PageSet(upTo: pages.pageCount)
      var (interior, leaves) = (all, all)
      var expected: [UInt32] = []
      try tree.forEachPage(visited: &all, reading: &pages) { _, number, _, page in
        if try #require(page).kind.isInterior { expected.append(number) }
      }
      var found: [UInt32] = []
      try tree.forEachInteriorPage(visited: &interior, leaves: &leaves, reading: &pages) {
        number, _, page in
        found.append(number)
        #expect(page?.kind.isInterior == true)
      }
      #expect(found.sorted() == expected.sorted())
      #expect(numbers(of: interior) == expected.sorted())
      #expect(
        (numbers(of: interior) + numbers(of: leaves)).sorted() == numbers(of: all), "\(root)")
    }
  }

  private func numbers(of pages: PageSet) -> [UInt32] {
    var numbers: [UInt32] = []
    pages.forEach { numbers.append($0) }
    return numbers
  }

  private func expect(_ payload: [UInt8], isRow number: Int, pageSize: Int) throws {
    let header = try #require(RecordHeader(payload))
    #expect(header.size == payload.count)
    #expect(header.values[0].type.isNull)
    #expect(header.integer(1, in: payload) == Int64(number * 1_000_003))
    #expect(
      Array(payload[header.values[2].range]) == Databases.content(number, pageSize: pageSize))
  }

  @Test(arguments: ["plain-512-2-0.db", "plain-4096-0-0.db", "plain-65536-2-32.db"])
  func `a row is found by its id`(name: String) throws {
    let bytes = try Databases.bytes(name)
    let header = try #require(DatabaseHeader(bytes))
    var pages = MemoryPages(bytes: bytes, pageSize: header.pageSize)
    let root = try #require(try pages.root(of: "t", usableSize: header.usableSize))
    let tree = Tree(root: root, usableSize: header.usableSize)
    let written = 1...Databases.rowCount(pageSize: header.pageSize)
    var buffer: [UInt8] = []
    for id in 0...200 {
      let found = try tree.row(Int64(id), reading: &pages, into: &buffer)
      #expect((found != nil) == (written ~= id && Databases.isKept(id)), "row \(id)")
      #expect(found.map { Int($0.cell.rowID) } ?? id == id)
    }
  }

  @Test(
    arguments: [
      "UTF-16le": DatabaseHeader.TextEncoding.utf16LittleEndian, "UTF-16be": .utf16BigEndian,
    ])
  func `the encoding of text is known`(name: String, encoding: DatabaseHeader.TextEncoding) throws {
    let header = try #require(DatabaseHeader(try Databases.bytes("\(name).db")))
    #expect(header.textEncoding == encoding)
    #expect(
      try DatabaseHeader(Databases.bytes("plain-512-0-0.db"))?.textEncoding == .utf8)
  }

  @Test func `a tree that contains itself ends`() throws {
    // Two interior pages that are each other's children.
    var bytes = [UInt8](repeating: 0, count: 1_024)
    for (start, child) in [(0, 2), (512, 1)] {
      let header = start == 0 ? 100 : start
      bytes[header] = 5
      bytes[header + 5] = 2
      bytes[header + 11] = UInt8(child)
    }
    var pages = MemoryPages(bytes: bytes, pageSize: 512)
    var visited = PageSet(upTo: 2)
    var found: [UInt32] = []
    let tree = Tree(root: 1, usableSize: 512)
    try tree.forEachPage(visited: &visited, reading: &pages) { _, number, _, page in
      #expect(page?.kind == .tableInterior)
      found.append(number)
    }
    #expect(found == [1, 2])
    var buffer: [UInt8] = []
    #expect(try tree.row(1, reading: &pages, into: &buffer) == nil)
    #expect(pages.reads < 40)
  }

  @Test func `a free list that contains itself ends`() throws {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    // Page 2 lists page 4, then page 3; page 3 is followed by page 2.
    bytes.replaceSubrange(512..<524, with: [0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 4])
    bytes.replaceSubrange(1_024..<1_028, with: [0, 0, 0, 2])
    var pages = MemoryPages(bytes: bytes, pageSize: 512)
    let list = try FreeList(from: 2, usableSize: 512, pageCount: 4, reading: &pages)
    #expect((1...4).map { list.trunks.contains($0) } == [false, true, true, false])
    #expect((1...4).map { list.leaves.contains($0) } == [false, false, false, true])
    #expect(!list.isComplete)
  }

  @Test func `a chain that contains itself ends with its payload`() throws {
    // A row of 2,000 bytes whose only overflow page is followed by itself.
    var page = [UInt8](repeating: 0, count: 512)
    page[0] = 13
    page[4] = 1
    page.replaceSubrange(5..<7, with: [0, 20])
    page.replaceSubrange(8..<10, with: [0, 20])
    page.replaceSubrange(20..<23, with: [0x8F, 0x50, 1])
    let local = (512 - 12) * 32 / 255 - 23 + (2_000 - 39) % 508
    page.replaceSubrange(23 + local..<27 + local, with: [0, 0, 0, 2])
    let cell = try #require(RowCell(page, at: 20, usableSize: 512))
    #expect(cell.payload.size == 2_000)
    #expect(cell.payload.local.count == local)
    var bytes = page + [UInt8](repeating: 0, count: 512)
    bytes[515] = 2
    var pages = MemoryPages(bytes: bytes, pageSize: 512)
    var visited: [UInt32] = []
    #expect(
      try pages.payload(cell.payload, in: page, usableSize: 512, visiting: &visited) == nil)
    #expect(visited == Array(repeating: 2, count: (2_000 - local + 507) / 508))
  }
}
