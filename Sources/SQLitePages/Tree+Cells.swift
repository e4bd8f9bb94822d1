// Walks through the cells of a tree whose structure SQLite has checked, to compare what they contain. What SQLite would
// report ends a walk.
extension Tree {
  /// A page above the one that is read, and the next of its children.
  private struct Level {
    let bytes: [UInt8]
    let page: BTreePage
    var next = 0
  }

  /// Calls `body` with the record of each cell of an index, in the order of the index.
  ///
  /// Memory holds one page of each level, and one record.
  ///
  /// - Parameters:
  ///   - pageCount: The number of pages of the database.
  ///   - longest: The length of the longest record that is read.
  ///   - pages: Reads the pages.
  ///   - body: Returns `false` to end the walk.
  /// - Returns: Whether the walk has reached the end of the tree.
  /// - Throws: An error of `pages` or `body`.
  public func forEachIndexRecord<Pages: PageReading>(
    pageCount: UInt32, longest: Int, reading pages: inout Pages,
    _ body: (Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    var (levels, buffer, record): ([Level], [UInt8], [UInt8]) = ([], [], [])
    var (rest, child) = (pageCount, Optional(root))
    while true {
      if let number = child {
        // A cyclic tree ends here.
        guard rest > 0, levels.count < Self.mostLevels, try pages.read(number, into: &buffer),
          let page = BTreePage(buffer.span, number: number, usableSize: usableSize)
        else { return false }
        (rest, child) = (rest - 1, nil)
        switch page.kind {
        case .indexLeaf:
          for cell in 0..<page.cellCount {
            guard
              try read(cell, of: page, buffer.span, longest, into: &record, from: &pages, body)
            else { return false }
          }
        case .indexInterior: levels.append(Level(bytes: buffer, page: page))
        case .tableInterior, .tableLeaf: return false
        }
      }
      guard let level = levels.last else { return true }
      let (page, next) = (level.page, level.next)
      guard next <= page.cellCount else {
        levels.removeLast()
        continue
      }
      // The record of a cell stands between those of the children on both of its sides.
      if next > 0,
        try !read(next - 1, of: page, level.bytes.span, longest, into: &record, from: &pages, body)
      {
        return false
      }
      child = page.child(next, in: level.bytes.span)
      if child == nil { return false }
      levels[levels.count - 1].next += 1
    }
  }

  /// Calls `body` with the record of a cell of an index.
  private func read(
    _ cell: Int, of page: BTreePage, _ bytes: Span<UInt8>, _ longest: Int,
    into record: inout [UInt8], from pages: inout some PageReading,
    _ body: (Span<UInt8>) throws -> Bool
  ) throws -> Bool {
    guard let start = page.offset(ofCell: cell, in: bytes),
      let payload = IndexCell(bytes, at: start, of: page.kind, usableSize: usableSize)?.payload,
      payload.size <= longest
    else { return false }
    if payload.firstOverflowPage == 0 { return try body(bytes.extracting(payload.local)) }
    return try payload.read(
      payload.size, of: bytes, usableSize: usableSize, into: &record, from: &pages)
      && body(record.span)
  }

  /// Calls `body` with each row of a table, in the order of the ids.
  ///
  /// - Parameters:
  ///   - pageCount: The number of pages of the database.
  ///   - pages: Reads the pages.
  ///   - body: Processes a row and its page; returns `false` to ignore the rest.
  /// - Returns: Whether `body` got all rows of the pages that could be read; others are passed over.
  /// - Throws: An error of `pages` or `body`.
  public func forEachRow<Pages: PageReading>(
    pageCount: UInt32, reading pages: inout Pages,
    _ body: (inout Pages, Span<UInt8>, RowCell) throws -> Bool
  ) throws -> Bool {
    var (visited, isComplete) = (PageSet(upTo: pageCount), true)
    try forEachPage(visited: &visited, reading: &pages) { pages, _, bytes, page in
      guard isComplete, let page, page.kind != .tableInterior else {
        isComplete = isComplete && page != nil
        return
      }
      guard page.kind == .tableLeaf else {
        isComplete = false
        return
      }
      for index in 0..<page.cellCount {
        guard let start = page.offset(ofCell: index, in: bytes.span),
          let cell = RowCell(bytes.span, at: start, usableSize: usableSize),
          try body(&pages, bytes.span, cell)
        else {
          isComplete = false
          return
        }
      }
    }
    return isComplete
  }
}

extension Payload {
  /// Reads the beginning of a payload, also from its overflow pages.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - page: The page of its cell.
  ///   - bytes: Receives the bytes, and possibly some that follow.
  /// - Returns: `false` if the payload ends before them.
  /// - Throws: An error of `pages`.
  public func read(
    _ count: Int, of page: Span<UInt8>, usableSize: Int, into bytes: inout [UInt8],
    from pages: inout some PageReading
  ) throws -> Bool {
    bytes.removeAll(keepingCapacity: true)
    for place in local { bytes.append(page[place]) }
    var (chain, buffer): (OverflowChain, [UInt8]) = (.init(of: self, usableSize: usableSize), [])
    while bytes.count < count {
      guard chain.page != 0, try pages.read(chain.page, into: &buffer),
        let part = chain.advance(over: buffer.span)
      else { return false }
      bytes += buffer[part]
    }
    return true
  }
}
