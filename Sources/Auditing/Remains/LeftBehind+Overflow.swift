import SQLitePages

extension LeftBehind {
  /// Searches behind the ends of the rows of a page that continue on overflow pages.
  ///
  /// A row seldom fills its last overflow page. SQLite leaves in the rest of it what the page contained before.
  mutating func searchOverflow(
    of tree: BTreePage, _ page: [UInt8], _ pages: PageFiles
  ) throws {
    for index in 0..<tree.cellCount {
      guard let start = tree.offset(ofCell: index, in: page.span),
        let payload = Self.payload(at: start, of: tree, in: page), payload.firstOverflowPage != 0
      else { continue }
      try searchEnd(of: OverflowChain(of: payload, usableSize: tree.usableSize), pages)
    }
  }

  private static func payload(at start: Int, of tree: BTreePage, in page: [UInt8]) -> Payload? {
    switch tree.kind {
    case .tableLeaf: RowCell(page.span, at: start, usableSize: tree.usableSize)?.payload
    case .indexLeaf, .indexInterior:
      IndexCell(page.span, at: start, of: tree.kind, usableSize: tree.usableSize)?.payload
    case .tableInterior: nil
    }
  }

  private mutating func searchEnd(of chain: OverflowChain, _ pages: PageFiles) throws {
    var (chain, pages, buffer) = (chain, pages, [UInt8]())
    while case let number = chain.page, number != 0 {
      // Each page belongs to one row. In a hostile database, a page can be in any number of chains.
      guard overflow.insert(number), try pages.read(number, into: &buffer),
        let range = chain.advance(over: buffer.span)
      else { return }
      guard chain.remaining == 0 else { continue }
      let end = min(pages.header.usableSize, buffer.count)
      return search(buffer, range.upperBound..<end, pages.place(of: number))
    }
  }
}
