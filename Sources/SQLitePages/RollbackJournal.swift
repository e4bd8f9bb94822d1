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

    /// Which transaction wrote it: 0 for the last one, 1 for the one before it of which entries are left, and so on.
    public var transaction: Int
  }

  /// Whether the journal is one that SQLite would play back: it is in use, or its process was killed.
  public let isHot: Bool

  /// The length of a page.
  public let pageSize: Int

  /// The number of pages of the database before the transaction; 0 if it is not known.
  public let pageCount: UInt32

  private let sectorSize: Int

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
      pageCount = header.number32(at: 16)
    } else {
      for index in 0..<Self.headerLength where header[index] != 0 { return nil }
      self.pageSize = pageSize
      isHot = false
      sectorSize = 512
      pageCount = 0
    }
  }

  /// Returns the entries of the file, in order: those of the last transaction, and what is left of earlier ones.
  ///
  /// Each transaction writes over the beginning of a journal that is kept (`journal_mode=PERSIST`). What follows its last
  /// entry is from earlier, longer transactions: the further back in the file, the older.
  ///
  /// - Parameters:
  ///   - length: The length of the file.
  ///   - highest: The highest number that a page can have. What has a higher one, or none, is no entry.
  ///   - nextData: Returns the next offset that is in no hole of the file, from one on; `nil` if there is none.
  ///   - read: Returns up to as many bytes of the file as it is asked for.
  /// - Throws: An error of `read`.
  public func entries(
    length: Int64, upTo highest: UInt32 = 1 << 30,
    afterHole nextData: (Int64) -> Int64? = { $0 },
    reading read: (_ count: Int, _ offset: Int64) throws -> [UInt8]
  ) throws -> [Entry] {
    var walk = JournalWalk(pageSize: pageSize, highest: highest)
    walk.sectorSize = try isHot ? sectorSize : usedSectorSize(&walk, read)
    var offset: Int64 = 0
    // Each step goes forward, so this ends.
    while offset < length {
      // Each part of a journal begins with a header, at a sector.
      let sector = walk.sector(from: offset)
      let header = try read(Self.headerLength, sector)
      if header.count == Self.headerLength, Self.hasMagic(header.span, at: 0) || sector == 0 {
        walk.begin(header.span, isWritten: sector > 0 || isHot)
        offset = sector + Int64(walk.sectorSize)
        continue
      }
      let bytes = try read(walk.entryLength, offset)
      guard bytes.count == walk.entryLength else { break }
      if walk.take(bytes.span, at: offset) {
        offset += Int64(walk.entryLength)
      } else {
        // A part of another length was here. The next one begins at a sector, or the entries go on.
        let length = Int64(walk.entryLength)
        let next =
          Self.magic(in: bytes.span, sectorSize: walk.sectorSize, from: offset) ?? offset + length
        guard let data = nextData(next) else { break }
        offset = max(next, next + (data - next) / length * length)
      }
    }
    return walk.entries
  }

  /// Returns the length of the sectors of a journal without a header: the first with which two entries follow each other.
  private func usedSectorSize(
    _ walk: inout JournalWalk, _ read: (_ count: Int, _ offset: Int64) throws -> [UInt8]
  ) rethrows -> Int {
    for size in Self.sectorSizes {
      let bytes = try read(2 * walk.entryLength, Int64(size))
      guard bytes.count == 2 * walk.entryLength else { break }
      let seeds = [0, walk.entryLength].map { walk.seed(of: bytes.span, at: $0) }
      if let seed = seeds[0], seed == seeds[1] { return size }
    }
    return Self.sectorSizes[0]
  }

  /// The lengths of sectors that SQLite uses: 512 bytes, but on few file systems.
  private static let sectorSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536]

  /// Returns where the next header of a part begins in bytes of the file.
  private static func magic(
    in bytes: Span<UInt8>, sectorSize: Int, from offset: Int64
  ) -> Int64? {
    let size = Int64(sectorSize)
    var sector = (offset / size + 1) * size
    while sector - offset + 8 <= Int64(bytes.count) {
      if hasMagic(bytes, at: Int(sector - offset)) { return sector }
      sector += size
    }
    return nil
  }

  fileprivate static func hasMagic(_ bytes: Span<UInt8>, at start: Int) -> Bool {
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    return magic.indices.allSatisfy { bytes[start + $0] == magic[$0] }
  }
}

/// The state of a walk along the entries of a journal.
private struct JournalWalk {
  let pageSize: Int
  let highest: UInt32
  var sectorSize = 512
  private(set) var entries: [RollbackJournal.Entry] = []

  /// What the checksums of the transaction have in common; `nil` before its first entry, if no header says it.
  private var seed: UInt32?
  /// The number of entries that the part still has, according to its header.
  private var remaining = Int64.max
  private var transaction = 0

  init(pageSize: Int, highest: UInt32) {
    (self.pageSize, self.highest) = (pageSize, highest)
  }

  /// The length of an entry: the number of a page, the page, and a checksum.
  var entryLength: Int { pageSize + 8 }

  /// Returns where the next sector begins.
  func sector(from offset: Int64) -> Int64 {
    (offset + Int64(sectorSize) - 1) / Int64(sectorSize) * Int64(sectorSize)
  }

  /// Begins a part. The next part of a transaction follows its last entry, and has a seed of its own.
  mutating func begin(_ header: Span<UInt8>, isWritten: Bool) {
    (seed, remaining) = (nil, .max)
    guard isWritten else { return }
    seed = header.number32(at: 12)
    // All bits set, or 0 in the part that is being written, mean up to the end of the file.
    let count = header.number32(at: 8)
    if count != .max, count != 0 { remaining = Int64(count) }
  }

  /// Adds an entry, or notes that there is none.
  mutating func take(_ bytes: Span<UInt8>, at offset: Int64) -> Bool {
    guard let found = self.seed(of: bytes, at: 0) else {
      // What comes after a gap is older.
      if !entries.isEmpty, seed != nil { (seed, transaction) = (nil, transaction + 1) }
      remaining = .max
      return false
    }
    if remaining == 0 || seed.map({ $0 != found }) ?? false {
      (transaction, remaining) = (transaction + 1, .max)
    }
    seed = found
    if remaining != .max { remaining -= 1 }
    entries.append(
      RollbackJournal.Entry(
        page: bytes.number32(at: 0), offset: offset + 4, seed: found, transaction: transaction))
    return true
  }

  /// Returns what the checksum of an entry says of its transaction; `nil` if its page cannot exist.
  func seed(of entry: Span<UInt8>, at start: Int) -> UInt32? {
    guard 1...highest ~= entry.number32(at: start) else { return nil }
    return entry.number32(at: start + pageSize + 4) &- sum(entry, at: start + 4)
  }

  /// Adds up the bytes of a page that its checksum covers.
  private func sum(_ bytes: Span<UInt8>, at page: Int) -> UInt32 {
    var sum: UInt32 = 0
    var place = pageSize - 200
    while place > 0 {
      sum = sum &+ UInt32(bytes[page + place])
      place -= 200
    }
    return sum
  }
}
