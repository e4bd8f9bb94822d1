import Bytes
import Files
import SQLitePages

/// Reads pages of a file, and with them those after them, if pages are read in the order of the file.
///
/// A walk along a table follows several such orders at once: the pages of its rows, and their overflow pages.
struct PageWindows {
  /// A part of the file in memory. Without bytes, it only notes where a read ended.
  private struct Window {
    var start: Int64 = -1
    var count = 0
    /// How much to read next.
    var length = shortest
    var bytes: [UInt8] = []
    /// Whether the file ends where it does.
    var isLast = false
    var end: Int64 { start + Int64(count) }
  }

  private var windows = Array(repeating: Window(), count: 4)
  private var last = 0
  private var next = 0

  /// The lengths of windows: each is twice as long as the one before it in its order.
  private static let (shortest, longest) = (1 << 13, 1 << 17)

  /// How far after the end of a window a page may be to be read in order.
  private static let reach: Int64 = 1 << 16

  /// Copies a page into `buffer`.
  ///
  /// - Returns: The number of bytes that the file has of it.
  mutating func read(
    from file: borrowing OpenFile, at offset: Int64, into buffer: inout [UInt8]
  ) throws(FileError) -> Int {
    if let count = copy(last, offset, into: &buffer) { return count }
    for index in windows.indices where index != last {
      if let count = copy(index, offset, into: &buffer) {
        last = index
        return count
      }
    }
    let follower = windows.indices.first {
      windows[$0].start >= 0 && offset >= windows[$0].end
        && offset <= windows[$0].end + Self.reach
    }
    guard let follower else {
      let count = try file.read(buffer.count, at: offset, into: &buffer)
      next = (next + 1) % windows.count
      (windows[next].start, windows[next].count) = (offset + Int64(count), 0)
      windows[next].length = Self.shortest
      return count
    }
    let length = max(windows[follower].length, buffer.count)
    if windows[follower].bytes.count < max(Self.longest, buffer.count) {
      windows[follower].bytes = Array(repeating: 0, count: max(Self.longest, buffer.count))
    }
    (windows[follower].start, windows[follower].count) = (-1, 0)
    let count = try file.read(length, at: offset, into: &windows[follower].bytes)
    (windows[follower].start, windows[follower].count) = (offset, count)
    windows[follower].isLast = count < length
    windows[follower].length = min(2 * length, Self.longest)
    last = follower
    return copy(follower, offset, into: &buffer) ?? 0
  }

  /// Copies a page from a window; `nil` if it is not there, or only its beginning and the file may go on.
  private func copy(_ index: Int, _ offset: Int64, into buffer: inout [UInt8]) -> Int? {
    guard offset >= windows[index].start, offset < windows[index].end else { return nil }
    let start = Int(offset - windows[index].start)
    let count = min(buffer.count, windows[index].count - start)
    guard count == buffer.count || windows[index].isLast else { return nil }
    buffer.replaceSubrange(0..<count, with: windows[index].bytes[start..<start + count])
    return count
  }
}

/// The pages of a database at a time. Each thread has a copy of its own.
struct PageState: PageReading, Sendable {
  var reader: ImageReader
  /// The states of the pages that have several.
  let changed: [UInt32: PageImages.Image]
  let filePageCount: UInt32

  /// Returns the state of a page; `nil` if there is no such page.
  func image(of page: UInt32) -> PageImages.Image? {
    if !changed.isEmpty, let image = changed[page] { return image }
    guard page >= 1, page <= filePageCount else { return nil }
    return PageImages.Image(ofFilePage: page, size: reader.pageSize)
  }

  mutating func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    guard let image = image(of: page) else { return false }
    return try reader.read(image, into: &buffer)
  }
}

/// An open file of a database, which several threads read.
final class PageFile: Sendable {
  let file: OpenFile

  init(_ path: String) throws(FileError) { file = try OpenFile(reading: path) }

  /// Copies a file up to its first hole to an unnamed one.
  init(copying original: borrowing OpenFile) throws(FileError) {
    let size = try original.status().size.bytes
    var copy = try TemporaryFile()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // A log has no holes unless another program made them.
    let end = original.nextData(from: 0, size: size)?.upperBound ?? 0
    while copy.size < end {
      let count = try original.read(
        Int(min(Int64(buffer.count), end - copy.size)), at: copy.size, into: &buffer)
      guard count > 0 else { break }
      try copy.append(Array(buffer[..<count]))
    }
    file = try OpenFile(reading: copy, as: original.path)
  }
}

extension PageSet {
  /// The number of consecutive pages that a thread works on at a time.
  private static let partLength: UInt32 = 2_048

  /// The most threads: each needs memory of its own.
  private static let mostThreads = 8

  /// Works on the pages on several threads.
  ///
  /// - Parameters:
  ///   - initial: What each thread begins with.
  ///   - work: Works on a page.
  /// - Returns: What each thread ends with.
  /// - Throws: An error of `work`.
  func divided<Part: Sendable>(
    _ initial: Part, _ work: @Sendable (inout Part, UInt32) throws -> Void
  ) throws -> [Part] {
    let partCount = highest / Self.partLength + 1
    let threadCount = min(processorCount, Self.mostThreads, Int(partCount))
    return try BackgroundThread.map(threadCount) { thread in
      var result = initial
      // By turns, as the tables are not spread evenly.
      for part in stride(from: UInt32(thread), to: partCount, by: threadCount) {
        let first = part * Self.partLength
        try forEach(in: first..<first + Self.partLength) { try work(&result, $0) }
      }
      return result
    }
  }
}

/// Reads pages from the files of a database, in any of their states. Each thread has one of its own.
struct ImageReader: Sendable {
  let database: PageFile
  /// The log, or a copy of it.
  let log: PageFile?
  let journal: PageFile?
  let pageSize: Int

  /// Whether to read the pages after those that are read in the order of the file.
  var readsAhead = true

  private var windows = PageWindows()

  init(
    database: PageFile, log: PageFile?, journal: PageFile?, pageSize: Int, readsAhead: Bool = true
  ) {
    self.database = database
    self.log = log
    self.journal = journal
    self.pageSize = pageSize
    self.readsAhead = readsAhead
  }

  /// Reads a page. A page that is cut ends with zeros.
  ///
  /// - Returns: `false` if the file ends before it.
  mutating func read(
    _ image: PageImages.Image, into buffer: inout [UInt8]
  ) throws(StoreError) -> Bool {
    if buffer.count != pageSize { buffer = [UInt8](repeating: 0, count: pageSize) }
    do throws(FileError) {
      var count = 0
      switch image.file {
      case .database where readsAhead:
        count = try windows.read(from: database.file, at: image.offset, into: &buffer)
      case .database: count = try database.file.read(pageSize, at: image.offset, into: &buffer)
      case .log: count = try log?.file.read(pageSize, at: image.offset, into: &buffer) ?? 0
      case .journal: count = try journal?.file.read(pageSize, at: image.offset, into: &buffer) ?? 0
      }
      for index in count..<pageSize { buffer[index] = 0 }
      return count > 0
    } catch {
      throw StoreError(error, path: error.path)
    }
  }
}
