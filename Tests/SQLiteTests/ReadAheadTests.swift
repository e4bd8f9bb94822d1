import Foundation
import TestSupport
import Testing

@testable import SQLite

/// Files that are read ahead.
@Suite struct ReadAheadTests {
  /// A file in memory, with the ranges that were read of it.
  private final class MadeFile {
    let bytes: [UInt8]
    /// Where reading fails.
    var damage: Range<Int>?
    private(set) var reads: [Range<Int>] = []

    init(count: Int) {
      bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    }

    /// Reads as SQLite does: zeros for what lies behind the end, and a code that says so.
    func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
      let range = Int(offset)..<Int(offset) + buffer.count
      reads.append(range)
      guard damage?.overlaps(range) != true else { return Self.failure }
      for index in 0..<buffer.count {
        let place = range.lowerBound + index
        unsafe buffer[index] = place < bytes.count ? bytes[place] : 0
      }
      return range.upperBound <= bytes.count ? 0 : Self.short
    }

    static let failure: Int32 = 10
    static let short: Int32 = 522
  }

  private func read(
    _ range: Range<Int>, of file: MadeFile, _ ahead: ReadAhead
  ) -> (code: Int32, bytes: [UInt8]) {
    var bytes = [UInt8](repeating: 0xAA, count: range.count)
    let code = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe ahead.fill(
        buffer, at: Int64(range.lowerBound), ofFileWith: Int64(file.bytes.count), file.read)
    }
    return (code, bytes)
  }

  @Test(arguments: 1...20) func `reads in any order give the bytes of the file`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let file = MadeFile(count: .random(in: 0..<1_000_000, using: &random))
    let ahead = ReadAhead()
    var next = 0
    for _ in 0..<2_000 {
      let count = [100, 512, 4_096, 65_536].randomElement(using: &random) ?? 1
      // Mostly onwards, with gaps, sometimes somewhere else, also behind the end.
      if Int.random(in: 0..<20, using: &random) == 0 {
        next = .random(in: 0..<1_100_000, using: &random)
      } else {
        next += [0, 0, 4_096, 16_384, 20_000, -8_192].randomElement(using: &random) ?? 0
      }
      next = max(0, next)
      let range = next..<next + count
      let (code, bytes) = read(range, of: file, ahead)
      let expected = file.bytes[min(range.lowerBound, file.bytes.count)...].prefix(count)
      #expect(code == (range.upperBound <= file.bytes.count ? 0 : MadeFile.short), "\(range)")
      #expect(bytes.prefix(expected.count) == expected, "\(range)")
      next = range.upperBound
    }
  }

  @Test func `pages in their order are read many at a time`() {
    let file = MadeFile(count: 1 << 20)
    let ahead = ReadAhead()
    for offset in stride(from: 0, to: 1 << 20, by: 4_096) {
      _ = read(offset..<offset + 4_096, of: file, ahead)
    }
    let longest = ReadAhead.longest
    let expected =
      [0..<4_096]
      + stride(from: 4_096, to: 1 << 20, by: longest).map { $0..<min($0 + longest, 1 << 20) }
    #expect(file.reads == expected)
  }

  @Test func `tables that are read in turn are all read ahead`() {
    let file = MadeFile(count: 4 << 20)
    let ahead = ReadAhead()
    for step in 0..<200 {
      for table in 0..<3 {
        let offset = table << 20 + step * 4_096
        _ = read(offset..<offset + 4_096, of: file, ahead)
      }
    }
    #expect(file.reads.count < 3 * (200 * 4_096 / ReadAhead.longest + 3))
  }

  @Test func `pages far from each other are read alone`() {
    let file = MadeFile(count: 1 << 20)
    let ahead = ReadAhead()
    let ranges = stride(from: 0, to: 1 << 20, by: 32_768).map { $0..<$0 + 4_096 }
    for range in ranges { _ = read(range, of: file, ahead) }
    #expect(file.reads == ranges)
  }

  @Test func `damage further on does not fail what lies before it`() {
    let file = MadeFile(count: 1 << 20)
    file.damage = 20_000..<20_001
    let ahead = ReadAhead()
    let codes = stride(from: 0, to: 40_960, by: 4_096).map {
      read($0..<$0 + 4_096, of: file, ahead).code
    }
    #expect(codes == [0, 0, 0, 0, MadeFile.failure, 0, 0, 0, 0, 0])
  }

  @Test func `a database that is read ahead has the same rows`() throws {
    let path = NSTemporaryDirectory() + "ReadAheadTests-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let writer = try Connection(path: path, access: .create)
    try writer.execute("CREATE TABLE a(id INTEGER PRIMARY KEY, text TEXT)")
    try writer.execute("CREATE TABLE b(id INTEGER PRIMARY KEY, value BLOB)")
    for start in stride(from: 0, to: 3_000, by: 100) {
      for (table, length) in [("a", 50), ("b", 3_000)] {
        try writer.execute(
          "WITH RECURSIVE n(i) AS (SELECT \(start) UNION ALL SELECT i + 1 FROM n LIMIT 100) "
            + "INSERT INTO \(table) SELECT i, hex(zeroblob(\(length) + i % 7)) || i FROM n")
      }
    }
    func rows(_ access: Connection.Access) throws -> [[UInt8]] {
      let connection = try Connection(path: path, access: access)
      var statement = try connection.prepare(
        "SELECT text || value FROM a JOIN b USING (id) ORDER BY id")
      var rows: [[UInt8]] = []
      while try statement.step() { rows.append(statement.bytes(at: 0)) }
      return rows
    }
    let expected = try rows(.shared)
    #expect(expected.count == 3_000)
    #expect(try rows(.immutable) == expected)
    // Truncated after it was opened, it cannot be read to the end, as without reading ahead.
    let connection = try Connection(path: path, access: .immutable)
    var statement = try connection.prepare("SELECT sum(length(value)) FROM b")
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.truncate(atOffset: 1 << 20)
    #expect(throws: SQLiteError.self) { _ = try statement.step() }
  }
}
