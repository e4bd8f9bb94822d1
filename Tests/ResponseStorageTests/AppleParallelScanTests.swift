import Bytes
import Files
import Foundation
import PropertyLists
import Testing

@testable import ResponseStorage

@Suite struct AppleParallelScanTests {
  @Test(arguments: [1, 2, 3])
  func `several threads return what one returns, in the same order`(threadCount: Int) throws {
    let folder = try Self.store()
    let expected = try Self.responses(of: folder)
    var (found, tallies): ([StoredResponse], Int) = ([], 0)
    try Self.scan(folder, .all, threadCount: threadCount).forEachTally { tally in
      found += tally.responses
      tally.responses = []
      tallies += 1
      return .next
    }
    #expect(expected.count == 5_196)
    #expect(found == expected)
    #expect(tallies > 8)
  }

  @Test(arguments: [1, 2, 3])
  func `unordered tallies contain all responses, with at most one tally per thread`(
    threadCount: Int
  ) throws {
    let folder = try Self.store()
    var tallies: [[StoredResponse]] = []
    try Self.scan(folder, .all, threadCount: threadCount, in: .any, length: .max)
      .forEachTally { tally in
        tallies.append(tally.responses)
        return .next
      }
    #expect(1...threadCount ~= tallies.count)
    #expect(tallies.allSatisfy { $0.map(\.id) == $0.map(\.id).sorted() })
    #expect(tallies.joined().sorted { $0.id < $1.id } == (try Self.responses(of: folder)))
  }

  @Test(arguments: [1, 2, 3], [ScanOrder.ascending, .any])
  func `the last of several threads waits for a processor`(
    threadCount: Int, order: ScanOrder
  ) throws {
    let folder = try Self.store()
    let (files, layout) = try Self.opened(folder)
    let (waits, found) = (Monitor(0), Monitor(0))
    // It waits for its threads at its end, so each has started.
    try AppleParallelScan(
      of: files.database, layout, ScanRequest([], in: order), bodiesAt: files.bodies,
      threadCount: threadCount,
      waitForProcessor: {
        waits.update { $0 += 1 }
        // The other threads read all responses meanwhile.
        if order == .ascending { found.wait(until: { $0 == 5_196 }) { _ in } }
      }, into: Some(length: 100)
    ).forEachTally { tally in
      let count = tally.responses.count
      found.update { $0 += count }
      tally.responses = []
      return .next
    }
    #expect(found.withLock { $0 } == 5_196)
    #expect(waits.withLock { $0 } == (threadCount == 1 ? 0 : 1))
  }

  @Test func `full unordered tallies are passed on`() throws {
    let folder = try Self.store()
    var found: [StoredResponse.ID] = []
    try Self.scan(folder, [], threadCount: 2, in: .any, length: 700).forEachTally { tally in
      #expect(tally.responses.count <= 700)
      found += tally.responses.map(\.id)
      tally.responses = []
      return .next
    }
    #expect(found.sorted() == (try Self.responses(of: folder).map(\.id)))
  }

  @Test(arguments: [1, 2, 3], [ScanOrder.ascending, .any])
  func `tallies choose responses before they are fully decoded`(
    threadCount: Int, order: ScanOrder
  ) throws {
    let folder = try Self.store()
    let all = try Self.responses(of: folder)
    for (divisor, remainders) in [(1, 0...0), (2, 1...1), (40, 3...7), (9_999, 1...1)]
      as [(Int64, ClosedRange<Int64>)]
    {
      let some = Some(length: 100, wanted: { remainders.contains($0 % divisor) })
      var (found, asked): ([StoredResponse], Int) = ([], 0)
      try Self.scan(folder, .all, threadCount: threadCount, in: order, choosing: [], some)
        .forEachTally { tally in
          found += tally.responses
          asked += tally.asked
          (tally.responses, tally.asked) = ([], 0)
          return .next
        }
      #expect(asked == all.count)
      if order == .any { found.sort { $0.id < $1.id } }
      #expect(
        found == all.filter { some.isWanted($0.id) }, "remainders \(remainders) of \(divisor)")
    }
  }

  @Test(arguments: [1, 1_023, 1_024, 1_025, 4_000], [ScanOrder.ascending, .any])
  func `a parallel scan stops on request`(
    limit: Int, order: ScanOrder
  ) throws {
    let folder = try Self.store()
    var found: [StoredResponse.ID] = []
    try Self.scan(folder, [], threadCount: 2, in: order, length: 1).forEachTally { tally in
      found += tally.responses.map(\.id)
      tally.responses = []
      return found.count == limit ? .stop : .next
    }
    #expect(found.count == limit)
    guard order == .ascending else { return }
    #expect(found == Array(try Self.responses(of: folder).prefix(limit).map(\.id)))
  }

  @Test(arguments: [ScanOrder.ascending, .any])
  func `a read failure on any thread is an error`(order: ScanOrder) throws {
    let folder = try Self.store()
    let (files, layout) = try Self.opened(folder)
    let scan = AppleParallelScan(
      of: files.database + "-gone", layout, ScanRequest(.all, in: order), bodiesAt: files.bodies,
      threadCount: 2, into: Some(length: 9))
    #expect(throws: (any Error).self) { try scan.forEachTally { _ in .next } }
  }

  @Test(arguments: [1, 2, 3])
  func `the responses before damage are passed on`(threadCount: Int) throws {
    let folder = try Self.store()
    let path = "\(folder.path)/Cache.db"
    var database = try Data(contentsOf: URL(fileURLWithPath: path))
    // The last rows of the bodies, which were inserted last.
    database.resetBytes(in: (database.count - 8 * 4096)..<database.count)
    try database.write(to: URL(fileURLWithPath: path))
    var (expected, found): ([StoredResponse.ID], [StoredResponse.ID]) = ([], [])
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    #expect(throws: StoreError.self) {
      try store.scan(.all) { response in
        expected.append(response.id)
        return .next
      }
    }
    #expect(expected.count > 4_000 && expected.count % 1_024 != 0)
    // One tally for each chunk, of which the last one is not complete.
    #expect(throws: (any Error).self) {
      try Self.scan(folder, .all, threadCount: threadCount, length: .max).forEachTally { tally in
        found += tally.responses.map(\.id)
        tally.responses = []
        return .next
      }
    }
    #expect(found == expected)
    found = []
    #expect(throws: StoreError.self) {
      try store.scan(ScanRequest(.all, in: .ascending), into: Some(length: .max)) { tally in
        found += tally.responses.map(\.id)
        return .next
      }
    }
    #expect(found == expected)
  }

  @Test func `an empty store has no responses`() throws {
    let folder = try Self.store()
    for table in ["response", "blob_data", "receiver_data"] {
      _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", "DELETE FROM cfurl_cache_\(table)")
    }
    for order in [ScanOrder.ascending, .any] {
      try Self.scan(folder, .all, threadCount: 2, in: order).forEachTally { tally in
        #expect(tally.responses.isEmpty)
        return .next
      }
    }
  }

  /// A range of consecutive responses.
  private struct Some: ResponseTally {
    let length: Int
    var wanted: @Sendable (Int64) -> Bool = { _ in true }
    var responses: [StoredResponse] = []
    /// The number of responses that the tally was asked to choose from.
    var asked = 0

    var isFull: Bool { responses.count >= length }

    func isWanted(_ id: StoredResponse.ID) -> Bool {
      if case .row(let number) = id { wanted(number) } else { false }
    }

    mutating func choose(_ response: borrowing StoredResponse) -> Bool {
      asked += 1
      return isWanted(response.id)
    }

    mutating func insert(_ response: borrowing StoredResponse) { responses.append(copy response) }
  }

  private static func scan(
    _ folder: Folder, _ projection: Projection, threadCount: Int,
    in order: ScanOrder = .ascending, length: Int = 500
  ) throws -> AppleParallelScan<Some> {
    try scan(
      folder, projection, threadCount: threadCount, in: order, choosing: nil,
      Some(length: length))
  }

  private static func scan(
    _ folder: Folder, _ projection: Projection, threadCount: Int, in order: ScanOrder,
    choosing: Projection?, _ tally: Some
  ) throws -> AppleParallelScan<Some> {
    let (files, layout) = try opened(folder)
    return AppleParallelScan(
      of: files.database, layout, ScanRequest(projection, choosing: choosing, in: order),
      bodiesAt: files.bodies, threadCount: threadCount, into: tally)
  }

  /// Creates a store with gaps in its ids, with missing rows in each table, and with bodies of every kind.
  static func store() throws -> Folder {
    let folder = try Folder()
    let writer = try AppleStoreWriter(creating: folder.path, schema: .version203, isDurable: false)
    try writer.finish()
    let url: ByteString = "https://a.example/"
    let response = AppleMessage.Response(
      url: url, stored: try #require(Timestamp(secondsSince1970: 1_700_000_000)), status: 200,
      headers: HeaderFields([.init(name: "ETag", value: "\"x\"")]), mimeType: "text/html")
    let request = AppleMessage.Request(url: url, headers: HeaderFields([]))
    let plists = [response.propertyList, request.propertyList].map {
      "x'" + PropertyListWriter().bytes(of: $0).map { String(format: "%02x", $0) }.joined() + "'"
    }
    let sql = """
      PRAGMA journal_mode = DELETE;
      BEGIN;
      CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS
        (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5200)
        SELECT CASE WHEN i > 3000 THEN i * 1000003 ELSE i END AS i FROM c;
      INSERT INTO cfurl_cache_response(entry_ID, version, hash_value, storage_policy, request_key)
        SELECT i, 0, i, 0, 'https://a.example/' || i FROM n;
      INSERT INTO cfurl_cache_blob_data(entry_ID, response_object, request_object)
        SELECT i, \(plists[0]), \(plists[1]) FROM n;
      INSERT INTO cfurl_cache_receiver_data(entry_ID, isDataOnFS, receiver_data)
        SELECT i, i % 7 = 0, CASE i % 7 WHEN 0 THEN 'no-uuid' WHEN 1 THEN 'täxt' WHEN 2 THEN NULL
          ELSE zeroblob(i % 900) END FROM n;
      DELETE FROM cfurl_cache_response WHERE entry_ID IN (1, 1024, 1025, 2048);
      DELETE FROM cfurl_cache_blob_data WHERE entry_ID IN (2, 1026, 2048);
      DELETE FROM cfurl_cache_receiver_data WHERE entry_ID IN (3, 1026, 2048);
      DELETE FROM cfurl_cache_response WHERE entry_ID BETWEEN 2100 AND 2102;
      DELETE FROM cfurl_cache_blob_data WHERE entry_ID BETWEEN 2100 AND 2102;
      DELETE FROM cfurl_cache_receiver_data WHERE entry_ID BETWEEN 2100 AND 2102;
      COMMIT;
      """
    let script = "\(folder.path)/script"
    try sql.write(toFile: script, atomically: false, encoding: .utf8)
    _ = try Tool.output("sqlite3", "\(folder.path)/Cache.db", ".read \(script)")
    try FileManager.default.removeItem(atPath: script)
    return folder
  }

  /// Returns the responses that a single thread reads.
  private static func responses(of folder: Folder) throws -> [StoredResponse] {
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var responses: [StoredResponse] = []
    try store.scan(.all) { response in
      responses.append(copy response)
      return .next
    }
    return responses
  }

  static func opened(_ folder: Folder) throws -> (AppleStoreFiles, AppleLayout) {
    let files = try AppleStoreFiles(at: folder.path)
    let snapshot = try AppleSnapshot(of: files, wait: 0)
    return (files, try AppleLayout(of: snapshot.connection, path: folder.path))
  }
}
