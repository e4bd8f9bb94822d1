public import Bytes
import Files
import ResponseArchives
public import ResponseStorage
import Secrets
import SQLitePages

/// The search for secrets in bytes of a cache that belong to no entry.
///
/// SQLite does not overwrite what it removes: rows stay in free pages, in gaps between the rows of other pages, behind the
/// ends of rows, and in frames of the log that newer ones have replaced.
public struct LeftBehind {
  /// The secrets of entries.
  private let known: KnownSecrets
  let now: Timestamp
  var found = FoundSecrets(most: 100_000)
  /// The overflow pages that were passed.
  var overflow = PageSet(upTo: 0)

  /// Searches the database of a cache, and the body files to which no entry refers.
  ///
  /// - Parameter known: The secrets that entries have, and that are reported there unless they are in a body file.
  /// - Returns: The findings, in the order in which the log, the database and the files are read.
  /// - Throws: `FileError`, or any error of decoding that is not about a single file.
  public static func findings(
    in files: CacheFiles, _ orphans: [OrphanFile], except known: KnownSecrets, now: Timestamp
  ) throws -> [AuditFinding] {
    var search = LeftBehind(known: known, now: now)
    try search.searchPages(of: files)
    try search.search(orphans, of: files)
    return search.found.findings
  }

  private init(known: KnownSecrets, now: Timestamp) {
    (self.known, self.now) = (known, now)
  }

  private mutating func searchPages(of files: CacheFiles) throws {
    guard let name = files.database else { return }
    let folder = try Directory(files.folder, followingLink: true)
    guard let pages = try PageFiles(name, in: folder) else { return }
    overflow = PageSet(upTo: pages.pageCount)
    try searchLog(pages)
    try searchDatabase(pages)
  }

  private mutating func searchLog(_ pages: PageFiles) throws {
    guard let log = pages.log else { return }
    var buffer: [UInt8] = []
    var following = log.next(from: 1)
    while let number = following {
      following = log.next(from: number + 1)
      guard let page = try log.read(number, into: &buffer), page > 0 else { continue }
      guard pages.frames[page] == number else {
        search(buffer, 0..<buffer.count, .page(file: pages.logName, frame: number, page: page))
        continue
      }
      // A frame that SQLite reads is a page like any other.
      try searchGaps(in: buffer, page, pages)
    }
  }

  private mutating func searchDatabase(_ pages: PageFiles) throws {
    var reader = pages
    let free = try FreeList(
      from: pages.header.firstFreePage, usableSize: pages.header.usableSize,
      pageCount: pages.pageCount, reading: &reader)
    var buffer: [UInt8] = []
    try pages.forEachDatabasePage { page in
      guard try pages.readFromDatabase(page, into: &buffer) else { return }
      let place = AuditPlace.page(file: pages.name, frame: nil, page: page)
      if pages.frames[page] != nil || free.leaves.contains(page) {
        let next = free.leaves.contains(page) ? try beginning(after: buffer, free, pages) : []
        search(buffer + next, 0..<buffer.count + next.count, place)
      } else if free.trunks.contains(page) {
        let range = FreeList.remains(inTrunk: buffer.span, usableSize: pages.header.usableSize)
        search(buffer, range, place)
      } else {
        try searchGaps(in: buffer, page, pages)
      }
    }
  }

  /// Returns the beginning of the page that continues an overflow page, if that is free, too: a secret can be on both.
  private func beginning(
    after page: [UInt8], _ free: FreeList, _ pages: PageFiles
  ) throws -> [UInt8] {
    let next = page[..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var buffer: [UInt8] = []
    guard free.leaves.contains(next), try pages.readFromDatabase(next, into: &buffer) else {
      return []
    }
    return Array(buffer[4..<min(buffer.count, 4 + SecretMatch.mostBytes)])
  }

  /// Searches the bytes of a page that are no rows, and those behind the ends of its rows on other pages.
  private mutating func searchGaps(
    in page: [UInt8], _ number: UInt32, _ pages: PageFiles
  ) throws {
    guard !pages.header.isPointerMap(number),
      let tree = BTreePage(page.span, number: number, usableSize: pages.header.usableSize)
    else { return }
    for range in [tree.unallocated] + tree.freeBlocks(in: page.span) {
      search(page, range, pages.place(of: number))
    }
    try searchOverflow(of: tree, page, pages)
  }

  /// Searches a range of a page.
  mutating func search(_ page: [UInt8], _ range: Range<Int>, _ place: AuditPlace) {
    guard range.count >= Randomness.leastBytes else { return }
    let text = RawText.separated(page[range])
    for var match in SecretScanner.matches(in: text, .text, now: now) {
      // What the end of a page cuts off is not the secret, and another finding has it.
      let end = Int(match.offset) + match.value.bytes.count
      guard end < text.count || match.rule == .privateKey, match.rule != .email,
        // Where a row was partly overwritten, a value runs into other bytes.
        match.value.bytes.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D })
      else { continue }
      match.offset += Int64(range.lowerBound)
      insert(match, place)
    }
  }

  private mutating func insert(_ match: SecretMatch, _ place: AuditPlace) {
    // The byte after a value can be that of a number or a length, which looks like a part of it.
    for count in 0...4 where match.value.bytes.count - count >= 4 {
      let value = Array(match.value.bytes.dropLast(count))
      if known.contains(value) { return }
      // The secrets of URLs are compared without escapes.
      if value.contains(UInt8(ascii: "%")), known.contains(value[...].percentUnescaped()) {
        return
      }
      if found.recount(FoundSecrets.Key(value: ByteString(value))) { return }
    }
    found.insert(
      AuditFinding(AuditRule(match.rule), place, detail: match.name, secret: match),
      as: FoundSecrets.Key(value: match.value))
  }
}

extension LeftBehind {
  /// Searches the body files to which no entry refers.
  mutating func search(_ orphans: [OrphanFile], of files: CacheFiles) throws {
    guard !orphans.isEmpty else { return }
    let folder = try Directory(files.folder, followingLink: true)
    let bodies = try Directory("fsCachedData", in: folder)
    for orphan in orphans {
      // An app may have removed it meanwhile.
      guard let file = try? OpenFile(reading: orphan.name, in: bodies) else { continue }
      let place = AuditPlace.file(ByteString("fsCachedData/\(orphan.name)"))
      try Self.forEachMatch(in: file, size: orphan.size, now: now) { match in
        let key = FoundSecrets.Key(value: match.value, place: place)
        if found.recount(key) { return }
        found.insert(
          AuditFinding(
            AuditRule(match.rule), place, detail: match.name, secret: match, bytes: orphan.size),
          as: key)
      }
    }
  }

  /// The most bytes of a compressed file that are decoded.
  private static let mostDecoded = ByteCount(64 << 20)

  private static func forEachMatch(
    in file: borrowing OpenFile, size: ByteCount, now: Timestamp, _ found: (SecretMatch) -> Void
  ) throws {
    var scanner = SecretScanner(.text, now: now)
    var offset: Int64 = 0
    var start: [UInt8] = []
    while true {
      let piece = try file.read(1 << 18, at: offset)
      if piece.isEmpty { break }
      if offset == 0 { start = Array(piece.prefix(4)) }
      scanner.append(piece[...], found)
      offset += Int64(piece.count)
    }
    scanner.finish(found)
    // What looks compressed is also decoded, as in an entry.
    let isCoded = start.starts(with: [0x1F, 0x8B]) || start.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
    guard isCoded, size <= mostDecoded else { return }
    var decoded = SecretScanner(.text, now: now)
    var reader = BodyReader(try file.read(Int(clamping: size.bytes), at: 0))
    do {
      _ = try reader.forEachDecodedChunk(limit: ByteCount(1 << 30)) { decoded.append($0, found) }
    } catch is BodyDecodingError {}
    decoded.finish(found)
  }
}

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
