import Bytes
import Files
import SQLitePages

/// The pages of a database in all the states that its files still contain.
///
/// The files are only read, and not through SQLite, which shows only the present state.
final class PageImages {
  /// A page in one of its states.
  struct Image: Hashable, Sendable {
    /// When the state began. Times only order the states; the database below the log has 0.
    var time: Int64
    /// The file.
    var file: RecoveredPlace.File
    /// The number of the frame or of the page in the journal.
    var number: Int
    /// Where the page begins in the file.
    var offset: Int64

    init(time: Int64, file: RecoveredPlace.File, number: Int, offset: Int64) {
      (self.time, self.file, self.number, self.offset) = (time, file, number, offset)
    }

    /// The state in the database file.
    init(ofFilePage page: UInt32, size: Int) {
      self.init(
        time: 0, file: .database, number: 0, offset: Int64(page - 1) * Int64(size))
    }
  }

  /// From when on the states belong to transactions that were never committed.
  static let uncommitted: Int64 = 1 << 50

  /// The time of the pages in a journal whose transaction was committed. Those of earlier transactions have lower ones.
  static let beforeJournal: Int64 = -(1 << 62)

  /// The largest number of pages that is read: 4 TiB of pages of 4 KiB.
  static let mostPages: Int64 = 1 << 30

  /// Reads the files. Its log is a copy while an app is running.
  private var reader: ImageReader
  private let logOfApp: PageFile?
  private let files: AppleStoreFiles
  /// The state of the database and its journal when they were opened, and the header of the log.
  private let stateAtOpening: AppleStoreFiles.State
  private let logAtOpening: [UInt8]

  /// The header of the present state.
  var header: DatabaseHeader

  /// Whether the header could be read; otherwise the page size is guessed.
  let hasHeader: Bool

  /// The time of the present state.
  var now: Int64 = 0

  /// The number of pages in the database file, including one that is cut.
  let filePageCount: UInt32

  /// The length of the database file.
  private let fileLength: Int64

  /// The states of the pages that the log or the journal contains, in order of time.
  var changed: [UInt32: [Image]] = [:]

  private var database: PageFile { reader.database }
  var log: PageFile? { reader.log }
  var journal: PageFile? { reader.journal }

  /// Opens the files of a database.
  ///
  /// - Parameters:
  ///   - isDamaged: Whether its header can be wrong.
  ///   - copiesLog: Whether to copy the log: another process that has the database open writes over frames of earlier
  ///     generations.
  init(
    _ files: AppleStoreFiles, isDamaged: Bool, copiesLog: Bool
  ) throws(StoreError) {
    let state = try files.state()
    self.files = files
    stateAtOpening = state
    do throws(FileError) {
      let database = try PageFile(files.database)
      logOfApp = state.hasLog ? try PageFile(files.wal) : nil
      var log = logOfApp
      if copiesLog, let logOfApp { log = try PageFile(copying: logOfApp.file) }
      let journal = (state.journal?.size ?? 0) > 0 ? try PageFile(files.journal) : nil
      logAtOpening = try log?.file.read(WriteAheadLog.headerLength, at: 0) ?? []
      let start = try database.file.read(DatabaseHeader.length, at: 0)
      let found = DatabaseHeader(start.span)
      hasHeader = found != nil
      let size = try database.file.status().size.bytes
      fileLength = size
      if let found {
        header = found
      } else {
        header = DatabaseHeader(
          pageSize: try Self.guessedPageSize(of: database.file, log: log, length: size),
          pageCount: 0)
      }
      let count = (size + Int64(header.pageSize) - 1) / Int64(header.pageSize)
      filePageCount = UInt32(min(count, Self.mostPages))
      reader = ImageReader(
        database: database, log: log, journal: journal, pageSize: header.pageSize)
    } catch {
      throw StoreError(error, path: error.path)
    }
    header.pageCount =
      header.pageCount == 0 ? filePageCount : min(header.pageCount, UInt32(Self.mostPages))
    try readLog()
    try readJournal()
    var buffer: [UInt8] = []
    // Page 1 in the present state: the log can have a newer one.
    if hasHeader, let image = image(of: 1), try read(image, into: &buffer),
      var present = DatabaseHeader(buffer.span), present.pageSize == header.pageSize
    {
      present.pageCount = header.pageCount
      header = present
    }
    if isDamaged, header.reservedBytes > 0, try usesReservedBytes() { header.reservedBytes = 0 }
  }

  /// Whether the rows of most pages use the bytes that the header reserves, so that it is wrong.
  private func usesReservedBytes() throws(StoreError) -> Bool {
    var votes = 0
    var page: [UInt8] = []
    for number in 2...UInt32(64) {
      guard let image = image(of: number), try read(image, into: &page),
        let tree = BTreePage(page.span, number: number, usableSize: page.count),
        tree.kind == .tableLeaf
      else { continue }
      let ends = (0..<tree.cellCount).compactMap { index in
        tree.offset(ofCell: index, in: page.span)
          .flatMap { RowCell(page.span, at: $0, usableSize: page.count)?.payload.end }
      }
      if let last = ends.max() { votes += last > header.usableSize ? 1 : -1 }
    }
    return votes > 0
  }

  /// Returns the page size with which most pages look like pages of a b-tree.
  private static func guessedPageSize(
    of database: borrowing OpenFile, log: PageFile?, length: Int64
  ) throws(FileError) -> Int {
    if let log {
      let start = try log.file.read(WriteAheadLog.headerLength, at: 0)
      if let header = WriteAheadLog(start.span) { return header.pageSize }
    }
    // All real caches have pages of 4,096 bytes, so another size needs more hits.
    var best = (size: 4_096, hits: 0)
    for size in [4_096] + DatabaseHeader.pageSizes where Int64(size) <= length {
      var hits = 0
      for number in 1...Int64(32) where number * Int64(size) < length {
        let page = try database.read(size, at: number * Int64(size))
        if BTreePage(page.span, number: 2, usableSize: page.count)?.kind == .tableLeaf { hits += 1 }
      }
      if hits > best.hits { best = (size, hits) }
    }
    return best.size
  }

  /// Calls `body` with the number of each page that a file has, in order. Pages in holes of the database are left out.
  ///
  /// A file of a few bytes can be as long as its author likes, if it is one large hole.
  func forEachPage(_ body: (UInt32) throws -> Void) throws {
    let length = Int64(header.pageSize)
    // The log and the journal can have states of a page that is in a hole, or after the end.
    var others = changed.keys.sorted()[...]
    var offset: Int64 = 0
    while let part = database.file.nextData(from: offset, size: fileLength) {
      let first = part.lowerBound / length
      let end = min((part.upperBound + length - 1) / length, Int64(filePageCount))
      guard first < end else { break }
      while let other = others.first, Int64(other) <= first { try body(others.removeFirst()) }
      for number in first..<end { try body(UInt32(number + 1)) }
      others = others.drop { Int64($0) <= end }
      offset = end * length
    }
    for number in others { try body(number) }
  }

  /// The highest page that the present state can have: a damaged number must not decide how much memory is used.
  var highestPage: UInt32 {
    max(filePageCount, min(header.pageCount, filePageCount + UInt32(clamping: changed.count)))
  }

  /// The number of pages that exist in the files, in all states.
  var imageCount: Int { Int(filePageCount) + changed.values.reduce(0) { $0 + $1.count } }

  /// Returns all states of a page, in order of time.
  func images(of page: UInt32) -> [Image] {
    changed[page] ?? fileImage(of: page).map { [$0] } ?? []
  }

  /// Returns the present state of a page.
  func image(of page: UInt32) -> Image? { image(of: page, at: now)?.image }

  /// Returns the state of a page at a time.
  ///
  /// - Returns: The state; and whether it is known to be that of the time, and not only the first one after it.
  func image(of page: UInt32, at time: Int64) -> (image: Image, isCertain: Bool)? {
    guard let images = changed[page] else {
      // The journal has all pages that its transaction changed.
      return fileImage(of: page).map { ($0, $0.time <= time || time == Self.beforeJournal) }
    }
    if time == Self.beforeJournal, images.allSatisfy({ $0.time != time }),
      let file = fileImage(of: page)
    {
      return (file, true)
    }
    if let found = Self.last(of: images, upTo: time) {
      // Of an earlier generation of the log, the frames that changed the page in between can be overwritten.
      return (
        found, time >= 0 || Self.end(ofGenerationOf: found.time) == Self.end(ofGenerationOf: time)
      )
    }
    return images.first.map { ($0, false) }
  }

  /// Returns the last state that had begun at a time.
  private static func last(of images: [Image], upTo time: Int64) -> Image? {
    var (low, high) = (0, images.count)
    while low < high {
      let middle = (low + high) / 2
      if images[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? images[low - 1] : nil
  }

  /// Returns the state of a page in the database file.
  func fileImage(of page: UInt32) -> Image? {
    guard page >= 1, page <= filePageCount else { return nil }
    return Image(ofFilePage: page, size: header.pageSize)
  }

  /// Throws an error if a process has changed a page that was read.
  ///
  /// An app adds frames to the log while it is read, and these are ignored. But a checkpoint changes pages of the
  /// database, and after one the log is written from its beginning again.
  func verifyUnchanged() throws(StoreError) {
    let state = try files.state()
    var header: [UInt8] = []
    if let logOfApp {
      do throws(FileError) {
        header = try logOfApp.file.read(WriteAheadLog.headerLength, at: 0)
      } catch {
        throw StoreError(error, path: error.path)
      }
    }
    var (before, after) = (stateAtOpening, state)
    (before.wal, after.wal) = (nil, nil)
    // A transaction that began meanwhile has not changed the database.
    if journal == nil { (before.journal, after.journal) = (nil, nil) }
    guard before == after, header == logAtOpening else {
      throw StoreError(
        .changedWhileReading, at: files.path, because: "another process wrote to it")
    }
  }

  /// Returns how much of a page its file contains: less than its length only for the last page of a file that is cut.
  func length(of image: Image) -> Int {
    image.file == .database
      ? Int(clamping: min(Int64(header.pageSize), fileLength - image.offset)) : header.pageSize
  }

  /// Reads a page. A page that is cut ends with zeros.
  ///
  /// - Returns: `false` if the file ends before it.
  func read(_ image: Image, into buffer: inout [UInt8]) throws(StoreError) -> Bool {
    try reader.read(image, into: &buffer)
  }

  /// Returns a state of all pages.
  ///
  /// - Parameter readsAhead: As for ``ImageReader/readsAhead``.
  func state(at time: Int64, readsAhead: Bool = true) -> PageState {
    PageState(
      reader: ImageReader(
        database: database, log: log, journal: journal, pageSize: header.pageSize,
        readsAhead: readsAhead),
      changed: changed.compactMapValues { Self.last(of: $0, upTo: time) ?? $0.first },
      filePageCount: filePageCount)
  }
}

// The states of pages in the rollback journal.
extension PageImages {
  /// Reads which pages the journal has.
  func readJournal() throws(StoreError) {
    guard let journal else { return }
    do throws(FileError) {
      let start = try journal.file.read(RollbackJournal.headerLength, at: 0)
      guard let parsed = RollbackJournal(start.span, pageSize: header.pageSize),
        parsed.pageSize == header.pageSize
      else { return }
      let size = try journal.file.status().size.bytes
      var failure: FileError?
      let entries = try? parsed.entries(
        length: size, upTo: UInt32(Self.mostPages),
        afterHole: { journal.file.nextData(from: $0, size: size)?.lowerBound }
      ) {
        count, offset in
        do throws(FileError) { return try journal.file.read(count, at: offset) } catch {
          failure = error
          throw error
        }
      }
      if let failure { throw failure }
      add(entries ?? [], isHot: parsed.isHot)
      if parsed.isHot, parsed.pageCount > 0 {
        header.pageCount = min(parsed.pageCount, UInt32(Self.mostPages))
      }
    } catch {
      throw StoreError(error, path: error.path)
    }
  }

  /// Adds the pages of a journal to the states of the pages.
  private func add(_ entries: [RollbackJournal.Entry], isHot: Bool) {
    // A hostile journal can have one page in all of its entries, so the states of a page are sorted once.
    var added: [UInt32: [Image]] = [:]
    for (number, entry) in entries.enumerated() {
      let time = Self.time(of: entry, isHot: isHot)
      // Of two entries for one page in one transaction, the first is the state before it. The entries of a
      // transaction follow each other.
      guard added[entry.page]?.last?.time != time else { continue }
      added[entry.page, default: []].append(
        Image(time: time, file: .journal, number: number + 1, offset: entry.offset))
    }
    for (page, images) in added {
      var others = self.images(of: page)
      // A hot journal has the present state, and the file below it one that is rolled back.
      if isHot, images.contains(where: { $0.time == 0 }) {
        for index in others.indices where others[index].file == .database {
          others[index].time = Self.uncommitted
        }
      }
      changed[page] = (images.reversed() + others).sorted { $0.time < $1.time }
    }
  }

  /// Returns the time of the state before the transaction that wrote an entry.
  private static func time(of entry: RollbackJournal.Entry, isHot: Bool) -> Int64 {
    if entry.transaction == 0 { return isHot ? 0 : beforeJournal }
    // Each earlier transaction is a generation of its own, of which it is not known what followed.
    return beforeJournal - Int64(min(entry.transaction, 1 << 31)) * (1 << 30) + 1
  }
}
