import Archive
import Bytes
import Files
import ResponseStorage

/// The entries of a WARC file in their order, which threads make before they are wanted.
///
/// Inflating records, parsing heads and writing property lists takes most of the time of a pass. The threads take
/// batches of consecutive entries in turns.
struct WARCEntriesAhead {
  /// A batch, or a part of one.
  private struct Batch: Sendable {
    var entries: [SentEntry] = []
    /// Whether the next batch is that of another thread.
    var isLast = true
  }

  private let threads: [ReadAhead<Batch>]

  /// The largest number of entries of a batch, and the number of bytes of bodies that ends it. A part of a batch ends
  /// after that many bytes in all, because each head can have a megabyte.
  private static let mostEntries = 32
  private static let mostBytes = ByteCount(1 << 19)
  /// The size of the largest body that is sent with its entry, in bytes.
  private static let largestBody = ByteCount(1 << 18)
  // With 3, an import took a twentieth more time: on two processors, a thread often waits for a processor.
  /// The number of batches, or parts, of a thread that may exist at a time.
  private static let mostBatches = 8

  /// Whether threads make the entries of an index sooner than the thread that wants them.
  static func pays(for index: WARCIndex, readsBodies: Bool) -> Bool {
    guard processorCount > 1, index.entries.count > mostEntries else { return false }
    if !readsBodies, index.heads != nil { return true }
    // Each thread would decode all of a gzip member with many entries.
    let shared = zip(index.entries, index.entries.dropFirst())
      .count { $0.body.place.member == $1.body.place.member }
    return shared < index.entries.count / 2
  }

  /// Starts the threads.
  ///
  /// - Parameters:
  ///   - readsBodies: Whether bodies are sent with their entries, except large ones.
  ///   - makeMaker: Creates the maker of a thread.
  init(
    of index: WARCIndex, readsBodies: Bool, by makeMaker: @escaping @Sendable () -> WARCEntryMaker
  ) {
    let count = min(processorCount, 4)
    let limit = readsBodies ? Self.largestBody : nil
    threads = (0..<count).map { number in
      ReadAhead("WARCEntriesAhead", most: Self.mostBatches) { send in
        let maker = makeMaker()
        var (turn, start) = (0, 0)
        while case let range = Self.batch(of: index, from: start), !range.isEmpty {
          // The batches of the other threads are only passed over.
          if turn == number { try Self.make(range, of: index, limit, maker, send) }
          (turn, start) = ((turn + 1) % count, range.upperBound)
        }
      }
    }
  }

  /// Calls `body` with each entry.
  func forEach(_ body: (SentEntry) throws -> ScanStep) throws -> ScanStep {
    var number = 0
    while let batch = try threads[number].next() {
      for entry in batch.entries where try body(entry) == .stop { return .stop }
      if batch.isLast { number = (number + 1) % threads.count }
    }
    return .next
  }

  /// Returns the indices of the batch that starts at an index; empty at the end.
  private static func batch(of index: WARCIndex, from start: Int) -> Range<Int> {
    var (end, bytes) = (start, 0 as ByteCount)
    while end < index.entries.count, end - start < mostEntries, bytes < mostBytes {
      let size = index.entries[end].size
      if size <= largestBody { bytes += size }
      end += 1
    }
    return start..<end
  }

  /// Makes the entries of a batch, and sends them in parts.
  private static func make(
    _ range: Range<Int>, of index: WARCIndex, _ limit: ByteCount?, _ maker: WARCEntryMaker,
    _ send: ReadAhead<Batch>.Send
  ) throws {
    var (batch, bytes) = (Batch(isLast: false), 0 as ByteCount)
    for number in range {
      do {
        let entry = SentEntry(
          try maker.response(number, index.entries[number], readingUpTo: limit))
        batch.entries.append(entry)
        bytes += entry.byteCount
      } catch {
        // It is thrown after the entries before it, as without threads.
        try send(batch)
        throw error
      }
      guard bytes >= mostBytes, number + 1 < range.upperBound else { continue }
      try send(batch)
      (batch, bytes) = (Batch(isLast: false), 0)
    }
    batch.isLast = true
    try send(batch)
  }
}

/// The entries of a WARC file, assembled from its records on demand.
final class WARCEntries {
  private let index: WARCIndex
  private let maker: WARCEntryMaker
  /// Creates another maker of the same entries, for a thread of its own.
  private let makeMaker: @Sendable () -> WARCEntryMaker

  /// The records that are no entries.
  var omissions: [ArchiveOmission] { index.omissions }

  /// The first records that do not match their digest.
  var damaged: [DamagedRecord] { index.damaged }

  /// The number of entries that are redirects whose bodies were not recorded.
  var redirectsWithoutBody: Int64 { index.redirectsWithoutBody }

  /// The number of entries.
  private var count: Int { index.entries.count }

  /// Returns the number of entries, which the index has already.
  ///
  /// - Throws: The damage that ended the index early.
  func countAll() throws -> Int64 {
    if let damage = index.damage { throw damage }
    return Int64(count)
  }

  /// Reads the file once.
  ///
  /// - Parameter folder: The folder for copies of the heads of records.
  /// - Throws: ``ResponseArchiveError`` for a limit, or any error from reading the file.
  init(
    _ file: FileBytes, limits: ArchiveLimits, path: String,
    copyingHeadsTo folder: String = TemporaryFile.folder
  ) throws {
    var start = [UInt8](repeating: 0, count: ContentCoding.longestMark)
    let count = try file.read(&start, 0)
    let coding = ContentCoding(ofDataBeginningWith: start[..<count])
    var indexing = try WARCIndexing(
      file, coding, limits: limits, path: path, copyingHeadsTo: folder)
    let index = try indexing.run()
    self.index = index
    makeMaker = { [heads = index.heads] in
      WARCEntryMaker(file, coding, heads: heads, path: path)
    }
    maker = makeMaker()
  }

  /// Calls `body` with each entry.
  ///
  /// - Parameter readsBodies: Whether most bodies will be read. Otherwise even a short one is only read when it is wanted.
  /// - Throws: ``ResponseArchiveError`` if the file is damaged, or any error that `body` throws.
  func forEach(readsBodies: Bool, _ body: (RawResponse) throws -> ScanStep) throws {
    let step =
      WARCEntriesAhead.pays(for: index, readsBodies: readsBodies)
      ? try forEachAhead(readsBodies: readsBodies, body)
      : try forEach(index.entries.indices, readsBodies: readsBodies, body)
    if step == .stop { return }
    if let damage = index.damage { throw damage }
  }

  /// Calls `body` with each entry that has one of some numbers.
  func forEach(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    let indices = numbers.lazy.filter { [count] in $0 >= 1 && $0 <= Int64(count) }
      .map { Int($0) - 1 }
    _ = try forEach(indices, readsBodies: true, body)
  }

  private func forEach(
    _ indices: some Sequence<Int>, readsBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws -> ScanStep {
    let limit = readsBodies ? WARCIndex.largestInMemory : nil
    for number in indices {
      WorkCounter.add()
      let response = try maker.response(number, index.entries[number], readingUpTo: limit)
      if try body(response) == .stop { return .stop }
    }
    return .next
  }

  private func forEachAhead(
    readsBodies: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws -> ScanStep {
    let ahead = WARCEntriesAhead(of: index, readsBodies: readsBodies, by: makeMaker)
    return try ahead.forEach { sent in
      WorkCounter.add()
      let entry = index.entries[Int(sent.id) - 1]
      return try body(sent.response(withBody: { maker.body(readLaterOf: entry) }))
    }
  }
}
