/// A rollback journal: pages as they were before a transaction.
public struct RollbackJournal: Sendable {
  /// The length of the header that is read; a journal has as many bytes as a sector of its disk.
  public static let headerLength = 28

  /// A page in a journal.
  public struct Entry: Hashable, Sendable {
    /// The number of the page.
    public var page: UInt32

    /// Where the bytes of the page begin in the file.
    public var offset: Int64

    /// What the checksum says of the page: a sum of a few of its bytes and the number of the journal.
    public var seed: UInt32
  }

  /// Whether the journal is one that SQLite would play back: it is in use, or its process was killed.
  public let isHot: Bool

  /// The length of a page.
  public let pageSize: Int

  /// The number of pages of the database before the transaction; 0 if it is not known.
  public let pageCount: UInt32

  private let sectorSize: Int
  private let seed: UInt32?

  /// Reads the header of a journal.
  ///
  /// - Parameters:
  ///   - header: The beginning of the file.
  ///   - pageSize: The length of a page of the database. A journal whose transaction has ended can have a header of
  ///     zeros (`journal_mode=PERSIST`), and still contain the pages.
  public init?(_ header: Span<UInt8>, pageSize: Int) {
    guard header.count >= Self.headerLength else { return nil }
    if Self.hasMagic(header, at: 0) {
      sectorSize = Int(header.number32(at: 20))
      let size = Int(header.number32(at: 24))
      // Powers of two, as SQLite requires.
      guard 32...65_536 ~= sectorSize, sectorSize & (sectorSize - 1) == 0,
        DatabaseHeader.pageSizes.contains(size)
      else { return nil }
      self.pageSize = size
      isHot = true
      seed = header.number32(at: 12)
      pageCount = header.number32(at: 16)
    } else {
      for index in 0..<Self.headerLength where header[index] != 0 { return nil }
      self.pageSize = pageSize
      isHot = false
      sectorSize = 512
      seed = nil
      pageCount = 0
    }
  }

  /// Returns the places in the file where the entries begin, in order, with the end of each part.
  ///
  /// - Parameters:
  ///   - length: The length of the file.
  ///   - read: Returns up to as many bytes of the file as it is asked for.
  /// - Throws: An error of `read`.
  public func entries(
    length: Int64, reading read: (_ count: Int, _ offset: Int64) throws -> [UInt8]
  ) throws -> [Entry] {
    var entries: [Entry] = []
    var start: Int64 = 0
    let entryLength = Int64(pageSize + 8)
    var seed = seed
    // Each part is longer than its header, so this ends.
    while start + Int64(sectorSize) <= length {
      let header = try read(Self.headerLength, start)
      guard header.count == Self.headerLength else { break }
      var count = (length - start - Int64(sectorSize)) / entryLength
      if isHot {
        guard Self.hasMagic(header.span, at: 0) else { break }
        seed = header.span.number32(at: 12)
        // All bits set, or 0 in the part that is being written, mean up to the end of the file.
        let written = header.span.number32(at: 8)
        if written != .max, written != 0 { count = min(count, Int64(written)) }
      }
      var offset = start + Int64(sectorSize)
      for _ in 0..<count {
        let bytes = try read(Int(entryLength), offset)
        guard bytes.count == Int(entryLength) else { return entries }
        let span = bytes.span
        let found = span.number32(at: Int(entryLength) - 4) &- sum(span)
        // Without a header, the first entry decides what all checksums have in common.
        if seed == nil { seed = found }
        guard found == seed, span.number32(at: 0) != 0 else { break }
        entries.append(Entry(page: span.number32(at: 0), offset: offset + 4, seed: found))
        offset += entryLength
      }
      // The next part begins at a sector.
      let end = (offset + Int64(sectorSize) - 1) / Int64(sectorSize) * Int64(sectorSize)
      guard end > start else { break }
      start = end
      if !isHot { break }
    }
    return entries
  }

  /// Adds up the bytes of a page that its checksum covers.
  private func sum(_ entry: Span<UInt8>) -> UInt32 {
    var sum: UInt32 = 0
    var place = pageSize - 200
    while place > 0 {
      sum = sum &+ UInt32(entry[4 + place])
      place -= 200
    }
    return sum
  }

  private static func hasMagic(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    return magic.indices.allSatisfy { bytes[start + $0] == magic[$0] }
  }
}
