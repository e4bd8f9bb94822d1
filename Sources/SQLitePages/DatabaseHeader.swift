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
