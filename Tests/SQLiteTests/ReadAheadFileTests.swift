import Foundation
import TestSupport
import Testing

@testable import SQLite

/// Files that are read ahead.
@Suite struct ReadAheadFileTests {
  /// A file in memory, with the ranges that were read of it.
  private final class MadeFile {
    let bytes: [UInt8]
    /// Where reading fails.
    var damage: Range<Int>?
    private(set) var reads: [Range<Int>] = []

    /// - Parameter length: How often a byte is `first`.
    init(count: Int, first: UInt8 = 0, every length: Int = 4_096) {
      bytes = (0..<count).map {
        $0 % length == 0 ? first : UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13)
      }
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

  /// A page in memory that SQLite uses.
  @safe
  private struct HeldPage {
    let range: Range<Int>
    private let page: UnsafeMutableRawPointer

    init?(_ range: Range<Int>, _ ahead: inout RegionsAhead) {
      guard let page = unsafe ahead.hold(range.count, at: Int64(range.lowerBound)) else {
        return nil
      }
      self.range = range
      unsafe self.page = page
    }

    var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: page, count: range.count)) }

    func release(_ ahead: inout RegionsAhead) { unsafe ahead.release(page) }
  }

  private func read(
    _ range: Range<Int>, of file: MadeFile, _ ahead: inout RegionsAhead
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
    var ahead = RegionsAhead()
    var next = 0
    var held: [HeldPage] = []
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
      // SQLite asks for a page in memory before it reads it, and uses some pages for long.
      if let page = HeldPage(range, &ahead) {
        held.append(page)
        let place = Int.random(in: 0..<max(6, held.count), using: &random)
        if held.indices.contains(place) {
          let page = held.remove(at: place)
          #expect(page.bytes[...] == file.bytes[page.range], "\(page.range)")
          page.release(&ahead)
        }
      }
      let (code, bytes) = read(range, of: file, &ahead)
      let expected = file.bytes[min(range.lowerBound, file.bytes.count)...].prefix(count)
      #expect(code == (range.upperBound <= file.bytes.count ? 0 : MadeFile.short), "\(range)")
      #expect(bytes.prefix(expected.count) == expected, "\(range)")
      next = range.upperBound
    }
  }

  @Test func `pages in their order are read many at a time`() {
    let file = MadeFile(count: 1 << 20)
    var ahead = RegionsAhead()
    for offset in stride(from: 0, to: 1 << 20, by: 4_096) {
      _ = read(offset..<offset + 4_096, of: file, &ahead)
    }
    let longest = RegionsAhead.longest
    let expected =
      [0..<4_096]
      + stride(from: 4_096, to: 1 << 20, by: longest).map { $0..<min($0 + longest, 1 << 20) }
    #expect(file.reads == expected)
  }

  @Test func `pages in reverse order are read many at a time`() {
    let file = MadeFile(count: 1 << 20)
    var ahead = RegionsAhead()
    for offset in stride(from: (1 << 20) - 4_096, through: 0, by: -4_096) {
      _ = read(offset..<offset + 4_096, of: file, &ahead)
    }
    let longest = RegionsAhead.longest
    let last = (1 << 20) - 4_096
    let expected =
      [last..<1 << 20]
      + stride(from: last, to: 0, by: -longest).map { max(0, $0 - longest)..<$0 }
    #expect(file.reads == expected)
  }

  @Test(arguments: [1, -1]) func `pages between many others are read alone`(_ direction: Int) {
    let file = MadeFile(count: 3 << 20)
    var ahead = RegionsAhead()
    let ranges = (0..<200).map { number in
      let offset = (direction > 0 ? number : 200 - number) * 12_288
      return offset..<offset + 4_096
    }
    for range in ranges { _ = read(range, of: file, &ahead) }
    #expect(file.reads == ranges)
  }

  @Test func `what is read ahead and not needed ends the reading ahead`() {
    let file = MadeFile(count: 4 << 20)
    var ahead = RegionsAhead()
    // At first each page is needed, and then one of four.
    let near = stride(from: 0, to: 1 << 19, by: 4_096).map { $0..<$0 + 4_096 }
    let far = stride(from: 1 << 19, to: 4 << 20, by: 16_384).map { $0..<$0 + 4_096 }
    for range in near + far { _ = read(range, of: file, &ahead) }
    #expect(file.reads.prefix(9).map(\.count) == [4_096] + Array(repeating: 65_536, count: 8))
    #expect(Array(file.reads.suffix(200)) == Array(far.suffix(200)))
    #expect(file.reads.count < 9 + far.count)
  }

  @Test func `a page that SQLite uses stays in memory`() throws {
    let file = MadeFile(count: 4 << 20)
    var ahead = RegionsAhead()
    var held: [HeldPage] = []
    for start in stride(from: 0, to: 3 << 20, by: 131_072) {
      for page in 0..<3 {
        let range = start + page * 4_096..<start + (page + 1) * 4_096
        #expect(read(range, of: file, &ahead).bytes[...] == file.bytes[range])
        if page == 2, let page = HeldPage(range, &ahead) { held.append(page) }
      }
    }
    // More than there are parts: the others were read alone.
    #expect(held.count == 8)
    for page in held {
      #expect(page.bytes[...] == file.bytes[page.range])
      page.release(&ahead)
    }
    let reads = file.reads.count
    for offset in stride(from: 3 << 20, to: 4 << 20, by: 4_096) {
      _ = read(offset..<offset + 4_096, of: file, &ahead)
    }
    #expect(file.reads.count - reads == 17)
  }

  @Test(arguments: [0, 2, 5, 10, 13] as [UInt8]) func `inner pages are not held`(_ kind: UInt8) {
    let file = MadeFile(count: 1 << 16, first: kind, every: 4_096)
    var ahead = RegionsAhead()
    for offset in [0, 4_096] { _ = read(offset..<offset + 4_096, of: file, &ahead) }
    #expect((HeldPage(8_192..<12_288, &ahead) == nil) == [2, 5].contains(kind))
    #expect(HeldPage(1 << 16..<(1 << 16) + 4_096, &ahead) == nil)
  }

  @Test func `tables that are read in turn are all read ahead`() {
    let file = MadeFile(count: 4 << 20)
    var ahead = RegionsAhead()
    for step in 0..<200 {
      for table in 0..<3 {
        let offset = table << 20 + step * 4_096
        _ = read(offset..<offset + 4_096, of: file, &ahead)
      }
    }
    #expect(file.reads.count < 3 * (200 * 4_096 / RegionsAhead.longest + 3))
  }

  @Test func `pages far from each other are read alone`() {
    let file = MadeFile(count: 1 << 20)
    var ahead = RegionsAhead()
    let ranges = stride(from: 0, to: 1 << 20, by: 32_768).map { $0..<$0 + 4_096 }
    for range in ranges { _ = read(range, of: file, &ahead) }
    #expect(file.reads == ranges)
  }

  @Test func `damage further on does not fail what lies before it`() {
    let file = MadeFile(count: 1 << 20)
    file.damage = 20_000..<20_001
    var ahead = RegionsAhead()
    let codes = stride(from: 0, to: 40_960, by: 4_096).map {
      read($0..<$0 + 4_096, of: file, &ahead).code
    }
    #expect(codes == [0, 0, 0, 0, MadeFile.failure, 0, 0, 0, 0, 0])
  }

  @Test func `a database that is read ahead has the same rows`() throws {
    let path = NSTemporaryDirectory() + "ReadAheadFileTests-\(UUID().uuidString)"
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
