import Archive
import Bytes
import Files
import ResponseStorage

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
  /// - Parameter temporaryFolder: The folder for copies of the heads of records.
  /// - Throws: ``ResponseArchiveError`` for a limit, or any error from reading the file.
  init(_ file: FileBytes, limits: ArchiveLimits, path: String, temporaryFolder: String) throws {
    var start = [UInt8](repeating: 0, count: ContentCoding.longestMark)
    let count = try file.read(&start, 0)
    let coding = ContentCoding(ofDataBeginningWith: start[..<count])
    var indexing = try WARCIndexing(
      file, coding, limits: limits, path: path, temporaryFolder: temporaryFolder)
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
