/// Walks through the b-tree of a table or an index.
public struct Tree: Sendable {
  /// The root page.
  public var root: UInt32

  /// The part of each page that SQLite uses.
  public var usableSize: Int

  /// Creates a walk.
  public init(root: UInt32, usableSize: Int) {
    self.root = root
    self.usableSize = usableSize
  }

  /// Calls `body` with each page of the tree, from the root, in the order of its keys.
  ///
  /// - Parameters:
  ///   - visited: Receives the pages. A page that is in it already is skipped, so that a cyclic tree ends.
  ///   - pages: Reads the pages.
  ///   - body: Processes a page of the tree, or one that should be a page of the tree and is not: then the structure
  ///     is `nil`.
  /// - Throws: An error of `pages` or `body`.
  public func forEachPage<Pages: PageReading>(
    visited: inout PageSet, reading pages: inout Pages,
    _ body: (inout Pages, UInt32, [UInt8], BTreePage?) throws -> Void
  ) throws {
    var waiting = [root]
    var buffer: [UInt8] = []
    while let number = waiting.popLast() {
      guard visited.insert(number), try pages.read(number, into: &buffer) else { continue }
      let page = BTreePage(buffer.span, number: number, usableSize: usableSize)
      try body(&pages, number, buffer, page)
      guard let page, page.kind.isInterior else { continue }
      for index in stride(from: page.cellCount, through: 0, by: -1) {
        if let child = page.child(index, in: buffer.span), !visited.contains(child) {
          waiting.append(child)
        }
      }
    }
  }

  /// Calls `body` with each interior page of the tree, and notes the leaves, which are not read.
  ///
  /// All leaves of a tree are equally deep. In a damaged tree, pages that are noted as leaves can be others.
  ///
  /// - Parameters:
  ///   - visited: As for ``forEachPage(visited:reading:_:)``; receives no leaves.
  ///   - leaves: Receives the leaves.
  ///   - body: Processes a page of the tree, or one that should be a page of the tree and is not: then the structure
  ///     is `nil`.
  /// - Throws: An error of `pages` or `body`.
  public func forEachInteriorPage<Pages: PageReading>(
    visited: inout PageSet, leaves: inout PageSet, reading pages: inout Pages,
    _ body: (UInt32, [UInt8], BTreePage?) throws -> Void
  ) throws {
    // Many rows of a hostile schema can name one page.
    guard !visited.contains(root), !leaves.contains(root) else { return }
    var buffer: [UInt8] = []
    let depth = try depth(reading: &pages, into: &buffer)
    var waiting = [(number: root, level: 0)]
    if depth == 0 {
      leaves.insert(root)
      waiting = []
    }
    while let (number, level) = waiting.popLast() {
      guard visited.insert(number), try pages.read(number, into: &buffer) else { continue }
      let page = BTreePage(buffer.span, number: number, usableSize: usableSize)
      try body(number, buffer, page)
      guard let page, page.kind.isInterior else { continue }
      for index in 0...page.cellCount {
        guard let child = page.child(index, in: buffer.span) else { continue }
        if level + 1 == depth {
          leaves.insert(child)
        } else if !visited.contains(child) {
          waiting.append((child, level + 1))
        }
      }
    }
  }

  /// A tree of 2³² pages is less deep than this, unless it is cyclic.
  static let mostLevels = 24

  /// Returns the number of levels above the leaves, judging by the first of them.
  private func depth(
    reading pages: inout some PageReading, into buffer: inout [UInt8]
  ) throws -> Int {
    var number = root
    for level in 0..<Self.mostLevels {
      guard try pages.read(number, into: &buffer),
        let page = BTreePage(buffer.span, number: number, usableSize: usableSize),
        let child = page.child(0, in: buffer.span)
      else { return level }
      number = child
    }
    return Self.mostLevels
  }

  /// Finds a row of a table.
  ///
  /// - Parameters:
  ///   - buffer: Receives the page of the row.
  /// - Returns: The number of its page and its cell, or `nil` if the tree has no such row.
  /// - Throws: An error of `pages`.
  public func row(
    _ id: Int64, reading pages: inout some PageReading, into buffer: inout [UInt8]
  ) throws -> (page: UInt32, cell: RowCell)? {
    var leaf: UInt32?
    return try row(id, after: &leaf, reading: &pages, into: &buffer)
  }

  /// Finds a row of a table, without reading its page again if it is the one that the last call read.
  ///
  /// - Parameters:
  ///   - leaf: The number of the page in `buffer`, if it is a leaf of this tree.
  ///   - buffer: Receives the page of the row.
  /// - Returns: The number of its page and its cell, or `nil` if the tree has no such row.
  /// - Throws: An error of `pages`.
  public func row(
    _ id: Int64, after leaf: inout UInt32?, reading pages: inout some PageReading,
    into buffer: inout [UInt8]
  ) throws -> (page: UInt32, cell: RowCell)? {
    if let leaf, let page = BTreePage(buffer.span, number: leaf, usableSize: usableSize),
      page.kind == .tableLeaf, let first = rowID(ofCell: 0, of: page, in: buffer.span),
      let last = rowID(ofCell: page.cellCount - 1, of: page, in: buffer.span), first <= id,
      id <= last
    {
      return cell(of: page, id, in: buffer.span).map { (leaf, $0) }
    }
    leaf = nil
    var number = root
    for _ in 0..<Self.mostLevels {
      guard try pages.read(number, into: &buffer),
        let page = BTreePage(buffer.span, number: number, usableSize: usableSize)
      else { return nil }
      switch page.kind {
      case .tableLeaf:
        leaf = number
        return cell(of: page, id, in: buffer.span).map { (number, $0) }
      case .tableInterior:
        let place = firstCell(of: page, from: id, in: buffer.span)
        guard let child = page.child(place, in: buffer.span) else { return nil }
        number = child
      case .indexInterior, .indexLeaf: return nil
      }
    }
    return nil
  }

  /// Returns the cell of a row in a leaf.
  private func cell(of page: BTreePage, _ id: Int64, in bytes: Span<UInt8>) -> RowCell? {
    guard let start = page.offset(ofCell: firstCell(of: page, from: id, in: bytes), in: bytes),
      let cell = RowCell(bytes, at: start, usableSize: usableSize), cell.rowID == id
    else { return nil }
    return cell
  }

  /// Returns the index of the first cell whose row id is not less than `id`.
  private func firstCell(of page: BTreePage, from id: Int64, in bytes: Span<UInt8>) -> Int {
    var (low, high) = (0, page.cellCount)
    while low < high {
      let middle = (low + high) / 2
      if let found = rowID(ofCell: middle, of: page, in: bytes), found < id {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  private func rowID(ofCell index: Int, of page: BTreePage, in bytes: Span<UInt8>) -> Int64? {
    guard let start = page.offset(ofCell: index, in: bytes) else { return nil }
    if page.kind == .tableInterior {
      return bytes.variableInteger(at: start + 4, before: usableSize)
        .map { Int64(bitPattern: $0.value) }
    }
    guard let (_, length) = bytes.variableInteger(at: start, before: usableSize) else { return nil }
    return bytes.variableInteger(at: start + length, before: usableSize)
      .map { Int64(bitPattern: $0.value) }
  }
}

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
