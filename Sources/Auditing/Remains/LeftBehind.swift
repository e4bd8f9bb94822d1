public import Bytes
import Files
import ResponseStorage
import SQLitePages

/// The search for secrets in bytes of a database that belong to no entry.
///
/// SQLite does not overwrite what it removes: rows stay in free pages, in gaps between the rows of other pages, and in
/// frames of the log that newer ones have replaced.
public struct LeftBehind: Sendable {
  /// The fingerprints of the secrets of entries.
  private let known: Set<String>
  private let now: Timestamp
  private var findings: [AuditFinding] = []
  /// The places of secrets in ``findings``.
  private var places: [ByteString: Int] = [:]

  /// The most secrets that are kept.
  static let most = 100_000

  /// Searches the database of a cache.
  ///
  /// - Parameter known: The fingerprints of secrets that entries have, and that are reported there.
  /// - Returns: The findings, in the order of frames and pages.
  /// - Throws: `FileError`.
  public static func findings(
    in files: CacheFiles, except known: Set<String>, now: Timestamp
  ) throws -> [AuditFinding] {
    guard let name = files.database else { return [] }
    let folder = try Directory(files.folder, followingLink: true)
    guard let pages = try PageFiles(name, in: folder) else { return [] }
    var search = LeftBehind(known: known, now: now)
    try search.searchLog(pages, ByteString("\(name)-wal"))
    try search.searchDatabase(pages, ByteString(name))
    return search.findings
  }

  private init(known: Set<String>, now: Timestamp) {
    (self.known, self.now) = (known, now)
  }

  private mutating func searchLog(_ pages: PageFiles, _ name: ByteString) throws {
    guard let log = pages.log, log.count > 0 else { return }
    var buffer: [UInt8] = []
    for number in 1...log.count {
      guard let page = try log.read(number, into: &buffer), page > 0 else { continue }
      let place = AuditPlace.page(file: name, frame: number, page: page)
      // A frame that SQLite reads is a page like any other.
      let isRead = pages.frames[page] == number
      let ranges = isRead ? gaps(in: buffer, page, pages) : [0..<buffer.count]
      for range in ranges { search(buffer, range, place) }
    }
  }

  private mutating func searchDatabase(_ pages: PageFiles, _ name: ByteString) throws {
    var reader = pages
    let free = try FreeList(
      from: pages.header.firstFreePage, usableSize: pages.header.usableSize,
      pageCount: pages.pageCount, reading: &reader)
    var buffer: [UInt8] = []
    guard pages.databasePages > 0 else { return }
    for page in 1...pages.databasePages {
      guard try pages.readFromDatabase(page, into: &buffer) else { continue }
      let place = AuditPlace.page(file: name, frame: nil, page: page)
      if pages.frames[page] != nil || free.leaves.contains(page) {
        let next = free.leaves.contains(page) ? try beginning(after: buffer, free, pages) : []
        search(buffer + next, 0..<buffer.count + next.count, place)
      } else if free.trunks.contains(page) {
        let range = FreeList.remains(inTrunk: buffer.span, usableSize: pages.header.usableSize)
        search(buffer, range, place)
      } else {
        for range in gaps(in: buffer, page, pages) { search(buffer, range, place) }
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

  /// Returns the bytes of a page that are no rows; none if it is not a page of a table or an index.
  private func gaps(in page: [UInt8], _ number: UInt32, _ pages: PageFiles) -> [Range<Int>] {
    let usableSize = pages.header.usableSize
    guard !pages.header.isPointerMap(number),
      let tree = BTreePage(page.span, number: number, usableSize: usableSize)
    else { return [] }
    return [tree.unallocated] + tree.freeBlocks(in: page.span)
  }

  private mutating func search(_ page: [UInt8], _ range: Range<Int>, _ place: AuditPlace) {
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
      if known.contains(SecretMatch.fingerprint(of: value)) { return }
      // The secrets of URLs are compared without escapes.
      if value.contains(UInt8(ascii: "%")),
        known.contains(SecretMatch.fingerprint(of: value[...].percentUnescaped()))
      {
        return
      }
      if let index = places[ByteString(value)] {
        findings[index].count += 1
        return
      }
    }
    guard findings.count < Self.most else { return }
    places[match.value] = findings.count
    findings.append(AuditFinding(match.rule, place, detail: match.name, secret: match))
  }
}
