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

/// A walk along the overflow pages of a payload.
public struct OverflowChain: Hashable, Sendable {
  /// The next page; 0 at the end of the chain.
  public private(set) var page: UInt32

  /// The number of bytes of the payload that are still to come.
  public private(set) var remaining: Int

  private let usableSize: Int

  /// Begins a walk.
  public init(of payload: Payload, usableSize: Int) {
    page = payload.firstOverflowPage
    remaining = payload.size - payload.local.count
    self.usableSize = usableSize
  }

  /// Whether the last byte was reached, and the chain ends there.
  public var isComplete: Bool { remaining == 0 && page == 0 }

  /// Takes the bytes of the current page, and continues with the next.
  ///
  /// Each call lowers ``remaining``, so that even a cyclic chain ends.
  ///
  /// - Parameter bytes: The whole page with the number ``page``.
  /// - Returns: The part of the page that belongs to the payload, or `nil` at the end of the payload.
  public mutating func advance(over bytes: Span<UInt8>) -> Range<Int>? {
    guard remaining > 0, page != 0, usableSize > 4, usableSize <= bytes.count else { return nil }
    let count = min(remaining, usableSize - 4)
    remaining -= count
    page = bytes.number32(at: 0)
    return 4..<4 + count
  }
}

/// Reads the pages of a database in one of its states.
public protocol PageReading {
  /// Reads a page.
  ///
  /// - Parameters:
  ///   - page: The number of the page; the first is 1.
  ///   - buffer: Receives the bytes of the whole page.
  /// - Returns: `false` if there is no such page.
  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool
}
