/// Where the payload of a cell is: some of it in its page, and the rest on overflow pages.
public struct Payload: Hashable, Sendable {
  /// The length of the whole payload.
  public var size: Int

  /// The bytes in the page of the cell.
  public var local: Range<Int>

  /// The first overflow page; 0 if the payload has none.
  public var firstOverflowPage: UInt32

  /// Creates a payload whose place is known.
  public init(size: Int, local: Range<Int>, firstOverflowPage: UInt32) {
    (self.size, self.local) = (size, local)
    self.firstOverflowPage = firstOverflowPage
  }

  /// The largest payload that SQLite allows.
  static let largest: UInt64 = 0x7FFF_FFFF

  /// Where the cell ends.
  public var end: Int { local.upperBound + (firstOverflowPage == 0 ? 0 : 4) }

  /// Finds the payload that begins at an offset of a page.
  ///
  /// - Parameters:
  ///   - isIndex: Whether the cell is one of an index.
  ///   - end: Where the cell must end.
  /// - Returns: `nil` if the cell does not end before `end`, or has no valid overflow page.
  init?(
    of size: UInt64, at start: Int, isIndex: Bool, in page: Span<UInt8>, usableSize: Int,
    before end: Int
  ) {
    guard size <= Self.largest, start >= 0, end <= page.count,
      usableSize >= DatabaseHeader.leastUsableSize
    else { return nil }
    self.size = Int(size)
    let count = Self.localSize(Int(size), isIndex: isIndex, usableSize: usableSize)
    guard start + count <= end else { return nil }
    local = start..<start + count
    firstOverflowPage = 0
    guard count < Int(size) else { return }
    guard start + count + 4 <= end else { return nil }
    firstOverflowPage = page.number32(at: start + count)
    if firstOverflowPage < 2 { return nil }
  }

  /// Finds the beginning of a payload whose end in the page is overwritten, and with it the number of its overflow page.
  ///
  /// - Returns: `nil` if the payload ends before `end`.
  init?(
    beginningOf size: UInt64, at start: Int, isIndex: Bool, usableSize: Int, before end: Int
  ) {
    guard size <= Self.largest, start >= 0, start < end, end <= usableSize,
      usableSize >= DatabaseHeader.leastUsableSize,
      start + Self.localSize(Int(size), isIndex: isIndex, usableSize: usableSize) > end
    else { return nil }
    self.size = Int(size)
    local = start..<end
    firstOverflowPage = 0
  }

  /// Returns the length of the largest payload without overflow pages.
  static func largestLocalSize(isIndex: Bool, usableSize: Int) -> Int {
    isIndex ? (usableSize - 12) * 64 / 255 - 23 : usableSize - 35
  }

  /// Returns how many bytes of a payload are in the page of its cell.
  static func localSize(_ size: Int, isIndex: Bool, usableSize: Int) -> Int {
    let largest = largestLocalSize(isIndex: isIndex, usableSize: usableSize)
    if size <= largest { return size }
    let smallest = (usableSize - 12) * 32 / 255 - 23
    let count = smallest + (size - smallest) % (usableSize - 4)
    return count <= largest ? count : smallest
  }
}

/// A cell of a leaf page of a table: a row.
public struct RowCell: Hashable, Sendable {
  /// Where the cell begins in its page.
  public var start: Int

  /// The id of the row.
  public var rowID: Int64

  /// The record.
  public var payload: Payload

  /// Reads the cell at an offset of a page.
  ///
  /// - Returns: `nil` if there is no complete cell.
  public init?(_ page: Span<UInt8>, at start: Int, usableSize: Int) {
    guard usableSize <= page.count,
      let (size, sizeLength) = page.variableInteger(at: start, before: usableSize),
      let (id, idLength) = page.variableInteger(at: start + sizeLength, before: usableSize),
      let payload = Payload(
        of: size, at: start + sizeLength + idLength, isIndex: false, in: page,
        usableSize: usableSize, before: usableSize)
    else { return nil }
    self.start = start
    rowID = Int64(bitPattern: id)
    self.payload = payload
  }
}

/// A cell of an index.
public struct IndexCell: Hashable, Sendable {
  /// The record, which ends with the id of a row.
  public var payload: Payload

  /// Reads the cell at an offset of a page of an index.
  ///
  /// - Returns: `nil` if there is no complete cell.
  public init?(_ page: Span<UInt8>, at start: Int, of kind: BTreePage.Kind, usableSize: Int) {
    let start = kind == .indexInterior ? start + 4 : start
    guard kind == .indexInterior || kind == .indexLeaf, usableSize <= page.count,
      let (size, length) = page.variableInteger(at: start, before: usableSize),
      let payload = Payload(
        of: size, at: start + length, isIndex: true, in: page, usableSize: usableSize,
        before: usableSize)
    else { return nil }
    self.payload = payload
  }
}
