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
