// Feeds random bytes to every function of the reader of pages. `run.sh` builds it together with the sources of the
// module, because libFuzzer provides its own `main`.

/// What the rows of a cache look like: the table of keys, that of property lists, that of bodies, and an index.
private let shapes: [RecordShape] = [
  RecordShape([
    .init(.null), .init([.null, .integer]), .init(.integer), .init(.integer), .init(.text),
    .init([.text, .integer, .real]), .init([.null, .text]),
  ]),
  RecordShape([.init(.null), .init(.blob, lengths: 42...1 << 25), .init([.null, .blob])]),
  RecordShape([.init(.null), .init(.integer), .init([.null, .blob, .text])]),
  RecordShape([.init(.text), .init(.integer)], isIndex: true),
]

/// The pages of a database that is the whole input.
private struct InputPages: PageReading {
  let bytes: [UInt8]
  let pageSize: Int
  var reads = 0

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) -> Bool {
    reads += 1
    let start = (Int(page) - 1) * pageSize
    guard page >= 1, start + pageSize <= bytes.count else { return false }
    buffer = Array(bytes[start..<start + pageSize])
    return true
  }
}

/// Reads `bytes` in every way. Errors are expected; a trap is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSQLitePages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let header = DatabaseHeader(bytes.span)
  exerciseDatabase(bytes, header ?? DatabaseHeader(pageSize: 512, pageCount: 8))
  for usable in [bytes.count, 512] { exercisePage(bytes, usable) }
  exerciseLog(bytes)
  return 0
}

private func require(_ condition: Bool, _ words: String) {
  guard condition else { fatalError("not true: \(words)") }
}

private func exerciseDatabase(_ bytes: [UInt8], _ header: DatabaseHeader) {
  let count = UInt32(bytes.count / header.pageSize)
  var pages = InputPages(bytes: bytes, pageSize: header.pageSize)
  do {
    var visited = PageSet(upTo: count)
    for root in 1...UInt32(4) {
      let tree = Tree(root: root, usableSize: header.usableSize)
      try tree.forEachPage(visited: &visited, reading: &pages) { _, number, _, _ in
        require(number >= 1 && number <= count, "a page of a tree exists")
      }
      var buffer: [UInt8] = []
      _ = try tree.row(Int64(root), reading: &pages, into: &buffer)
    }
    require(pages.reads <= Int(count) + 8 + 4 * 24, "each page is read once")
    pages.reads = 0
    _ = try FreeList(
      from: header.firstFreePage, usableSize: header.usableSize, pageCount: count, reading: &pages)
    require(pages.reads <= Int(count) + 1, "each trunk page is read once")
  } catch {
    fatalError("no page fails: \(error)")
  }
  for page in 0..<min(count, 100) { _ = header.isPointerMap(page) }
}

private func exercisePage(_ bytes: [UInt8], _ usable: Int) {
  let page = bytes.span
  for number in [UInt32(1), 2] {
    guard let tree = BTreePage(page, number: number, usableSize: usable) else { continue }
    _ = tree.overflowingPayloads(in: page)
    var end = 0
    for block in tree.freeBlocks(in: page) {
      require(block.lowerBound >= end && block.upperBound <= usable, "free blocks are in order")
      end = block.upperBound
    }
    for index in 0...tree.cellCount {
      _ = tree.child(index, in: page)
      guard let start = tree.offset(ofCell: index, in: page) else { continue }
      let payloads = [
        RowCell(page, at: start, usableSize: usable)?.payload,
        IndexCell(page, at: start, of: tree.kind, usableSize: usable)?.payload,
      ]
      for payload in payloads.compactMap({ $0 }) { exercise(payload, page, usable) }
    }
  }
  CellCarver(shapes, usableSize: usable).forEachCell(in: page, 0..<bytes.count) { cell in
    require(cell.payload.size == cell.header.size, "a record is as long as its values")
    exercise(cell.payload, page, usable)
    return cell.payload.size % 3 == 0 ? nil : cell.payload.size % 3 * cell.payload.size / 2
  }
  require(
    FreeList.remains(inTrunk: page, usableSize: usable).upperBound <= max(usable, 0), "remains end")
}

private func exercise(_ payload: Payload, _ page: Span<UInt8>, _ usable: Int) {
  require(payload.end <= usable && payload.local.count <= payload.size, "a cell ends in its page")
  var chain = OverflowChain(of: payload, usableSize: usable)
  var pages = 0
  while chain.remaining > 0, chain.advance(over: page) != nil { pages += 1 }
  require(pages <= payload.size / max(usable - 4, 1) + 1, "a chain ends with its payload")
  guard
    let header = RecordHeader(
      page, at: payload.local.lowerBound, before: payload.local.upperBound)
  else { return }
  let record = page.extracting(payload.local)
  for index in header.values.indices {
    _ = header.integer(index, in: record)
    _ = header.real(index, in: record)
  }
}

private func exerciseLog(_ bytes: [UInt8]) {
  var log = WriteAheadLog(bytes.span) ?? WriteAheadLog(pageSize: 512)
  var place = WriteAheadLog.headerLength
  while place < bytes.count {
    if let frame = log.next(bytes.span, at: place) { require(frame.page > 0, "a frame has a page") }
    place += log.frameLength
  }
  let journal = RollbackJournal(bytes.span, pageSize: 512)
  let entries = try? journal?.entries(length: Int64(bytes.count)) { count, offset in
    Array(bytes.dropFirst(Int(offset)).prefix(count))
  }
  require((entries ?? [])?.count ?? 0 <= bytes.count / 512, "an entry has a page")
}
