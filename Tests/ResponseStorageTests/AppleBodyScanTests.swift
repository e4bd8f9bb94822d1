import Bytes
import Files
import Foundation
import Testing

@testable import ResponseStorage

@Suite struct AppleBodyScanTests {
  @Test(arguments: [1, 2, 4])
  func `several threads return what one returns, in the same order`(threadCount: Int) throws {
    let folder = try Self.store()
    for projection in [[], .all] as [Projection] {
      let expected = try Self.entries(of: folder, projection)
      #expect(expected.count == 5_196)
      #expect(Set(expected.map { $0.body?.count }).count > 900)
      var (found, ends): ([Collecting.Entry], Int) = ([], 0)
      try Self.scan(folder, projection, threadCount, Collecting(length: 50)).forEachResult {
        switch $0 {
        case .part(let entries): found += entries
        case .summary(let entries):
          found += entries
          ends += 1
        }
      }
      #expect(found == expected)
      #expect(ends == 41)
    }
  }

  @Test func `results wait for the thread that takes them`() throws {
    let folder = try Self.store()
    var found: [Collecting.Entry] = []
    // Each part counts as more than what may wait.
    let scan = try Self.scan(folder, [], 3, Collecting(length: 1, bytes: 1 << 20))
    try scan.forEachResult { if case .part(let entries) = $0 { found += entries } }
    #expect(try found == Self.entries(of: folder, []))
  }

  @Test func `an error of the receiver ends the scan`() throws {
    struct Enough: Error {}
    let folder = try Self.store()
    var count = 0
    #expect(throws: Enough.self) {
      try Self.scan(folder, [], 2, Collecting(length: 1, bytes: 1 << 20)).forEachResult { _ in
        count += 1
        if count == 300 { throw Enough() }
      }
    }
    #expect(count == 300)
  }

  @Test(arguments: [1, 2, 3])
  func `the results before an error are passed on`(threadCount: Int) throws {
    let folder = try Self.store()
    var found: [Collecting.Entry] = []
    let all = try Self.entries(of: folder, [])
    var work = Collecting(length: 10)
    work.failing = all[1_000].id
    #expect(throws: Collecting.Failure.self) {
      try Self.scan(folder, [], threadCount, work).forEachResult { result in
        switch result {
        case .part(let entries), .summary(let entries): found += entries
        }
      }
    }
    #expect(found.count > 990 && found == Array(all.prefix(found.count)))
  }

  @Test func `a database that cannot be opened is an error`() throws {
    let folder = try Self.store()
    let (files, layout) = try AppleParallelScanTests.opened(folder)
    let scan = AppleBodyScan(
      of: files.database + "-gone", layout, [], bodiesAt: files.bodies, threadCount: 2,
      with: Collecting(length: 1))
    #expect(throws: (any Error).self) { try scan.forEachResult { _ in } }
  }

  /// Work that collects ids and bodies.
  private struct Collecting: EntryWork {
    struct Entry: Hashable, Sendable {
      let id: StoredResponse.ID
      let body: [UInt8]?
    }

    struct Failure: Error {}

    /// The number of entries that are passed on together, and the bytes that they count as.
    let length: Int
    var bytes = 100
    var failing: StoredResponse.ID?
    private var entries: [Entry] = []

    init(length: Int, bytes: Int = 100) { (self.length, self.bytes) = (length, bytes) }

    mutating func process(
      _ response: borrowing StoredResponse, _ body: ScannedBody,
      _ send: ([Entry], Int) throws -> Void
    ) throws {
      if response.id == failing { throw Failure() }
      var bytes: [UInt8] = []
      let isThere = try body.read { try $0.forEachChunk { bytes += $0 } }
      entries.append(Entry(id: response.id, body: isThere ? bytes : nil))
      guard entries.count >= length else { return }
      try send(entries, self.bytes)
      entries = []
    }

    mutating func endBatch(_ send: ([Entry], Int) throws -> Void) -> [Entry] {
      defer { entries = [] }
      return entries
    }
  }

  private static func scan(
    _ folder: Folder, _ projection: Projection, _ threadCount: Int, _ work: Collecting
  ) throws -> AppleBodyScan<Collecting> {
    let (files, layout) = try AppleParallelScanTests.opened(folder)
    return AppleBodyScan(
      of: files.database, layout, projection, bodiesAt: files.bodies, threadCount: threadCount,
      with: work)
  }

  /// Returns the entries as a single thread reads them.
  private static func entries(
    of folder: Folder, _ projection: Projection
  ) throws -> [Collecting.Entry] {
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var work = Collecting(length: .max)
    try store.scan(projection.union(.body)) { response in
      try work.process(response, store.body(of: response)) { _, _ in }
      return .next
    }
    return work.endBatch { _, _ in }
  }

  /// Creates a store with bodies of every kind: in files, long, missing, and behind links.
  private static func store() throws -> Folder {
    let folder = try AppleParallelScanTests.store()
    let bodies = "\(folder.path)/fsCachedData"
    try FileManager.default.createDirectory(atPath: bodies, withIntermediateDirectories: true)
    var statements: [String] = []
    func name(_ number: Int) -> String {
      "00000000-0000-0000-0000-" + String(repeating: "0", count: 8) + "\(1000 + number)"
    }
    for (number, size) in [0, 1, 65_536, 65_537, 200_000].enumerated() {
      try Data(repeating: 0x61, count: size)
        .write(to: URL(fileURLWithPath: "\(bodies)/\(name(number))"))
      statements.append(
        "(isDataOnFS, receiver_data) = (1, '\(name(number))') WHERE entry_ID = \(700 + number)")
      statements.append(
        "(isDataOnFS, receiver_data) = (0, zeroblob(\(size))) WHERE entry_ID = \(800 + number)")
    }
    try FileManager.default.createSymbolicLink(
      atPath: "\(bodies)/\(name(10))", withDestinationPath: name(4))
    try FileManager.default.createDirectory(
      atPath: "\(bodies)/\(name(11))", withIntermediateDirectories: true)
    for number in 10...12 {
      statements.append(
        "(isDataOnFS, receiver_data) = (1, '\(name(number))') WHERE entry_ID = \(700 + number)")
    }
    statements.append("receiver_data = CAST(zeroblob(70000) AS TEXT) WHERE entry_ID = 850")
    let sql = statements.map { "UPDATE cfurl_cache_receiver_data SET \($0);" }.joined()
    _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", sql)
    return folder
  }
}
