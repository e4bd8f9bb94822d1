/// The structure of a page of a b-tree: a table or an index.
public struct BTreePage: Hashable, Sendable {
  /// What a page of a b-tree contains.
  public enum Kind: UInt8, Hashable, Sendable {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13

    /// Whether its cells refer to other pages of the tree.
    public var isInterior: Bool { self == .indexInterior || self == .tableInterior }
  }

  /// What the page contains.
  public let kind: Kind

  /// Where the array of cell offsets begins.
  public let cellOffsets: Int

  /// The number of cells.
  public let cellCount: Int

  /// Where the cells begin, according to the page.
  public let contentStart: Int

  /// The last child of an interior page; 0 for a leaf.
  public let lastChild: UInt32

  /// The part of the page that SQLite uses.
  public let usableSize: Int

  private let firstFreeBlock: Int

  /// Reads the header of a page.
  ///
  /// - Parameter number: The number of the page; the first page begins with the header of the database.
  /// - Returns: `nil` if the bytes are not those of a page of a b-tree.
  public init?(_ page: Span<UInt8>, number: UInt32, usableSize: Int) {
    let start = number == 1 ? DatabaseHeader.length : 0
    guard usableSize <= page.count, usableSize >= start + 12, let kind = Kind(rawValue: page[start])
    else { return nil }
    self.kind = kind
    self.usableSize = usableSize
    cellOffsets = start + (kind.isInterior ? 12 : 8)
    cellCount = page.number16(at: start + 3)
    firstFreeBlock = page.number16(at: start + 1)
    let content = page.number16(at: start + 5)
    contentStart = content == 0 ? 65_536 : content
    lastChild = kind.isInterior ? page.number32(at: start + 8) : 0
    guard contentStart <= usableSize, cellOffsets + 2 * cellCount <= contentStart else {
      return nil
    }
  }

  /// The bytes between the array of cell offsets and the cells, which can contain remains.
  public var unallocated: Range<Int> { cellOffsets + 2 * cellCount..<contentStart }

  /// Returns the offset of a cell in the page, or `nil` if it is not among the cells.
  public func offset(ofCell index: Int, in page: Span<UInt8>) -> Int? {
    guard index >= 0, index < cellCount, cellOffsets + 2 * index + 2 <= page.count else {
      return nil
    }
    let offset = page.number16(at: cellOffsets + 2 * index)
    return offset >= contentStart && offset + 4 <= usableSize ? offset : nil
  }

  /// Returns the child to the left of a cell of an interior page, or ``lastChild`` for the index after the last cell;
  /// `nil` if the cell is damaged.
  public func child(_ index: Int, in page: Span<UInt8>) -> UInt32? {
    guard kind.isInterior else { return nil }
    if index == cellCount { return lastChild }
    return offset(ofCell: index, in: page).map { page.number32(at: $0) }
  }

  /// Returns the free blocks between the cells, in ascending order. Damage ends the list.
  public func freeBlocks(in page: Span<UInt8>) -> [Range<Int>] {
    var blocks: [Range<Int>] = []
    var start = firstFreeBlock
    // Each block begins after the end of the one before it, so this ends.
    var end = contentStart
    while start != 0 {
      guard start >= end, start + 4 <= usableSize else { break }
      let size = page.number16(at: start + 2)
      guard size >= 4, start + size <= usableSize else { break }
      blocks.append(start..<start + size)
      end = start + size
      start = page.number16(at: start)
    }
    return blocks
  }
}

// All numbers of a SQLite file are big-endian. Callers check that the bytes exist: a place outside
// the span stops the program.
extension Span<UInt8> {
  /// Reads two bytes as a number.
  @inline(__always)
  func number16(at place: Int) -> Int {
    Int(self[place]) << 8 | Int(self[place + 1])
  }

  /// Reads four bytes as a number.
  @inline(__always)
  func number32(at place: Int) -> UInt32 {
    UInt32(self[place]) << 24 | UInt32(self[place + 1]) << 16 | UInt32(self[place + 2]) << 8
      | UInt32(self[place + 3])
  }

  /// Reads a signed number of one to eight bytes.
  func signedNumber(at place: Int, size: Int) -> Int64 {
    var value = Int64(Int8(bitPattern: self[place]))
    for index in place + 1..<place + size { value = value << 8 | Int64(self[index]) }
    return value
  }

  /// Reads a variable-length integer of one to nine bytes.
  ///
  /// - Parameter end: The place before which all its bytes must be.
  /// - Returns: `nil` if the integer does not end before `end`.
  @inline(__always)
  func variableInteger(at place: Int, before end: Int) -> (value: UInt64, size: Int)? {
    guard place >= 0, place < end, end <= count else { return nil }
    let first = self[place]
    if first < 0x80 { return (UInt64(first), 1) }
    return longVariableInteger(at: place, before: end)
  }

  private func longVariableInteger(at place: Int, before end: Int) -> (value: UInt64, size: Int)? {
    var value: UInt64 = 0
    for size in 1...8 {
      guard place + size <= end else { return nil }
      let byte = self[place + size - 1]
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return (value, size) }
    }
    // The ninth byte has eight bits of the value.
    guard place + 9 <= end else { return nil }
    return (value << 8 | UInt64(self[place + 8]), 9)
  }
}

/// The number of bytes of a variable-length integer.
func variableIntegerSize(_ value: UInt64) -> Int {
  value >> 56 != 0 ? 9 : max(1, (64 - value.leadingZeroBitCount + 6) / 7)
}

extension BTreePage {
  /// Returns the payloads of those cells of a page that have overflow pages.
  public func overflowingPayloads(in page: Span<UInt8>) -> [Payload] {
    guard kind != .tableInterior, usableSize >= DatabaseHeader.leastUsableSize else { return [] }
    let isIndex = kind != .tableLeaf
    let largest = UInt64(Payload.largestLocalSize(isIndex: isIndex, usableSize: usableSize))
    var payloads: [Payload] = []
    for index in 0..<cellCount {
      guard let start = offset(ofCell: index, in: page),
        let (size, _) = page.variableInteger(
          at: kind == .indexInterior ? start + 4 : start, before: usableSize),
        // Nearly all cells are left here.
        size > largest,
        let payload = isIndex
          ? IndexCell(page, at: start, of: kind, usableSize: usableSize)?.payload
          : RowCell(page, at: start, usableSize: usableSize)?.payload,
        payload.firstOverflowPage != 0
      else { continue }
      payloads.append(payload)
    }
    return payloads
  }
}
