/// The header of a SQLite database: the first 100 bytes of its first page.
public struct DatabaseHeader: Hashable, Sendable {
  /// How text is encoded in a database.
  public enum TextEncoding: UInt32, Hashable, Sendable {
    case utf8 = 1
    case utf16LittleEndian = 2
    case utf16BigEndian = 3
  }

  /// The length of the header, in bytes.
  public static let length = 100

  /// The page sizes that SQLite allows.
  public static let pageSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

  /// The least part of a page that SQLite must be able to use.
  public static let leastUsableSize = 480

  /// The length of a page, in bytes.
  public var pageSize: Int

  /// The bytes at the end of each page that SQLite leaves to extensions.
  public var reservedBytes: Int

  /// The number of pages that the header records, which can be wrong.
  public var pageCount: UInt32

  /// The first trunk page of the free list; 0 if no page is free.
  public var firstFreePage: UInt32

  /// The number of free pages that the header records.
  public var freePageCount: UInt32

  /// How text is encoded.
  public var textEncoding: TextEncoding

  /// Whether the database has pages that record where other pages are used (`auto_vacuum` 1 and 2).
  public var hasPointerMap: Bool

  /// The part of a page that SQLite uses, in bytes.
  public var usableSize: Int { pageSize - reservedBytes }

  /// Reads a header.
  ///
  /// - Parameter page: The beginning of the first page.
  /// - Returns: `nil` if it is not the header of a SQLite database.
  public init?(_ page: Span<UInt8>) {
    guard page.count >= Self.length else { return nil }
    for (index, byte) in "SQLite format 3\0".utf8.enumerated() where page[index] != byte {
      return nil
    }
    // 65,536 does not fit into two bytes, and is written as 1.
    let size = page.number16(at: 16)
    self.init(
      pageSize: size == 1 ? 65_536 : size, reservedBytes: Int(page[20]),
      pageCount: page.number32(at: 28))
    guard Self.pageSizes.contains(pageSize), usableSize >= Self.leastUsableSize else { return nil }
    firstFreePage = page.number32(at: 32)
    freePageCount = page.number32(at: 36)
    hasPointerMap = page.number32(at: 52) != 0
    // A database without any table has 0 here.
    textEncoding = TextEncoding(rawValue: page.number32(at: 56)) ?? .utf8
  }

  /// Creates the header of a database whose own header is damaged.
  public init(pageSize: Int, reservedBytes: Int = 0, pageCount: UInt32) {
    self.pageSize = pageSize
    self.reservedBytes = reservedBytes
    self.pageCount = pageCount
    firstFreePage = 0
    freePageCount = 0
    textEncoding = .utf8
    hasPointerMap = false
  }

  /// The page that is never used, because SQLite locks bytes in it.
  public var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize + 1) }

  /// Whether a page is one that records where other pages are used.
  public func isPointerMap(_ page: UInt32) -> Bool {
    guard hasPointerMap, page >= 2 else { return false }
    // Each such page records `usableSize / 5` pages after it. If the lock page were one, the page after it is.
    let group = UInt64(usableSize / 5 + 1)
    var map = (UInt64(page) - 2) / group * group + 2
    if map == UInt64(lockPage) { map += 1 }
    return map == UInt64(page)
  }
}

/// Finds the places where the header of a record of some shapes can begin, by three bytes at each.
struct HeaderFilter: Sendable {
  /// Shapes, by their indexes.
  typealias Shapes = UInt64

  /// For each byte, the shapes of which the type of the first, second or third value can begin with it.
  private let first, second, third: [Shapes]

  /// The shapes of indexes, whose first value has a type of several bytes if it is long.
  private let indexes: Shapes

  /// The largest distance from the place of a header to the first byte that cannot be zero.
  private let reach: Int

  init(_ shapes: [RecordShape]) {
    precondition(shapes.count <= Shapes.bitWidth)
    // The first type of a row is NULL, or overwritten.
    first = Self.table(shapes) { $0.isIndex ? 0 : nil }
    second = Self.table(shapes) { _ in 1 }
    third = Self.table(shapes) { $0.isIndex ? nil : 2 }
    indexes = shapes.indices.reduce(0) { shapes[$1].isIndex ? $0 | 1 << Shapes($1) : $0 }
    reach =
      shapes.map { shape in
        1 + (shape.columns.firstIndex { !$0.types.contains(.null) } ?? shape.columns.count)
      }.max() ?? 1
  }

  /// Returns for each byte the shapes of which the type of a value can begin with it.
  ///
  /// - Parameter column: Returns the index of the value, or `nil` if any byte can be there.
  private static func table(
    _ shapes: [RecordShape], _ column: (RecordShape) -> Int?
  ) -> [Shapes] {
    (0...UInt8.max).map { byte in
      shapes.indices.reduce(0) { result, index in
        let isPossible = column(shapes[index]).map { canBegin(shapes[index], $0, with: byte) }
        return isPossible ?? true ? result | 1 << Shapes(index) : result
      }
    }
  }

  /// Whether the type of a value can begin with a byte.
  private static func canBegin(_ shape: RecordShape, _ column: Int, with byte: UInt8) -> Bool {
    guard shape.columns.indices.contains(column) else { return true }
    let column = shape.columns[column]
    // All types of several bytes are those of long text and BLOBs.
    guard byte < 0x80 else { return !column.types.isDisjoint(with: [.text, .blob]) }
    return SerialType(UInt64(byte)).map(column.allows) ?? false
  }

  /// Returns the shapes of which a header can begin at a place, with three bytes after it.
  @inline(__always)
  func shapes(at place: Int, in page: Span<UInt8>) -> Shapes {
    let (start, type) = (page[place + 1], page[place + 2])
    // A type of several bytes ends somewhere else.
    let allowed = start >= 0x80 ? second[Int(type)] | indexes : second[Int(type)]
    let shapes = allowed & first[Int(start)]
    return type >= 0x80 ? shapes : shapes & third[Int(page[place + 3])]
  }

  /// Returns the next place where a header can begin, from a place on.
  func next(in page: Span<UInt8>, _ start: Int, before end: Int) -> Int {
    var place = start
    while place + 3 < end {
      if page[place + 2] | page[place + 3] == 0,
        let jump = endOfZeros(in: page, place, before: end)
      {
        place = jump
        continue
      }
      if shapes(at: place, in: page) != 0 { return place }
      place += 1
    }
    return place
  }

  /// The number of bytes that are compared at once.
  private static let block = 64

  /// Returns where to go on in a run of zeros; `nil` if a header can begin at the place.
  private func endOfZeros(in page: Span<UInt8>, _ place: Int, before end: Int) -> Int? {
    var zeros = place + 1
    // The ends of overflow pages are long runs of zeros: these are compared many at once.
    while zeros + Self.block <= end {
      let bytes = page.extracting(zeros..<zeros + Self.block)
      var all: UInt8 = 0
      for index in 0..<Self.block { all |= bytes[index] }
      if all != 0 { break }
      zeros += Self.block
    }
    while zeros < end, page[zeros] == 0 { zeros += 1 }
    if zeros == end { return end }
    let next = zeros - reach
    return next > place ? next : nil
  }
}
