import SQLitePages

extension LeftBehind {
  /// Searches behind the ends of the rows of a page that continue on overflow pages.
  ///
  /// A row seldom fills its last overflow page. SQLite leaves in the rest of it what the page contained before.
  mutating func searchOverflow(
    of tree: BTreePage, _ page: [UInt8], _ pages: PageFiles
  ) throws {
    for payload in tree.overflowingPayloads(in: page.span) {
      try searchEnd(of: OverflowChain(of: payload, usableSize: tree.usableSize), pages)
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
