import Foundation
import TestSupport
import Testing

@testable import SQLite

/// Writes that are gathered in memory.
@Suite struct GatheredWritesTests {
  /// A file in memory, with the ranges that were written.
  private final class MadeFile: @unchecked Sendable {
    var bytes: [UInt8] = []
    private(set) var writes: [Range<Int>] = []
    /// Whether the disk is full.
    var isFull = false
    /// How long the first write takes, in microseconds.
    var delay: UInt32 = 0
    /// The offset of the only write that fails, if any.
    var badOffset: Int64?

    func write(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
      let range = Int(offset)..<Int(offset) + bytes.count
      if isFull || offset == badOffset {
        errno = EDQUOT
        return Self.full
      }
      if writes.isEmpty { usleep(delay) }
      writes.append(range)
      if self.bytes.count < range.upperBound {
        self.bytes += [UInt8](repeating: 0, count: range.upperBound - self.bytes.count)
      }
      self.bytes.replaceSubrange(range, with: unsafe Array(bytes))
      return 0
    }

    /// Reads as SQLite does: zeros for what lies behind the end, and a code that says so.
    func read(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
      let known = bytes.dropFirst(Int(offset)).prefix(buffer.count)
      unsafe buffer.copyBytes(from: known)
      for place in known.count..<buffer.count { unsafe buffer[place] = 0 }
      return known.count == buffer.count ? 0 : Self.short
    }

    static let full: Int32 = 13
    static let short: Int32 = 522
  }

  private func write(
    _ bytes: [UInt8], at offset: Int, _ gathered: inout GatheredWrites
  ) -> Int32 {
    unsafe bytes.withUnsafeBytes {
      unsafe gathered.write($0, at: Int64(offset))
    }
  }

  private func read(
    _ count: Int, at offset: Int, of file: MadeFile, _ gathered: inout GatheredWrites
  ) -> (code: Int32, bytes: [UInt8]) {
    var bytes = [UInt8](repeating: 0xAA, count: count)
    let code = unsafe bytes.withUnsafeMutableBytes {
      unsafe gathered.read($0, at: Int64(offset), file.read)
    }
    return (code, bytes)
  }

  @Test(arguments: 1...5, [0, 1 << 18, 4 << 20])
  func `reads see all writes, and flushing makes them`(
    _ seed: UInt64, _ longestWithoutThread: Int64
  ) {
    var random = SplitMix64(seed: seed)
    let (file, plain) = (MadeFile(), MadeFile())
    var gathered = unsafe GatheredWrites(
      longestWithoutThread: longestWithoutThread, file.write)
    var next = 0
    for step in 0..<500 {
      // Mostly onwards, as frames are, sometimes from somewhere else or from a little before on, but without gaps.
      switch Int.random(in: 0..<20, using: &random) {
      case 0: next = .random(in: 0...plain.bytes.count, using: &random)
      case 1...3: next = max(0, next - .random(in: 0..<70_000, using: &random))
      default: break
      }
      let count = [1, 24, 32, 4_096, 65_536, 100_000].randomElement(using: &random) ?? 1
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let offset = max(0, next - .random(in: 0..<20_000, using: &random))
        let result = read(count, at: offset, of: file, &gathered)
        var expected = [UInt8](repeating: 0xAA, count: count)
        let code = unsafe expected.withUnsafeMutableBytes {
          unsafe plain.read($0, Int64(offset))
        }
        #expect(result.code == code)
        #expect(result.bytes == expected)
      case 1:
        #expect(gathered.flush() == 0)
        #expect(file.bytes == plain.bytes)
      default:
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: step), count: count)
        #expect(write(bytes, at: next, &gathered) == 0)
        _ = unsafe bytes.withUnsafeBytes { unsafe plain.write($0, Int64(next)) }
        next += count
      }
    }
    #expect(gathered.flush() == 0)
    #expect(file.bytes == plain.bytes)
  }

  @Test func `what the thread has not written yet keeps its memory`() {
    let (file, length) = (MadeFile(), 65_536)
    file.delay = 200_000
    var gathered = unsafe GatheredWrites(longestWithoutThread: 0, file.write)
    let pieces = 2 * GatheredWrites.mostParts
    for piece in 0..<pieces {
      let bytes = [UInt8](repeating: UInt8(piece), count: length)
      #expect(write(bytes, at: piece * length, &gathered) == 0)
    }
    #expect(gathered.flush() == 0)
    let firstBytes = (0..<pieces).map { file.bytes[$0 * length] }
    #expect(firstBytes == (0..<pieces).map { UInt8($0) })
  }

  @Test func `of two writes of a place that wait for the thread, a read sees the later one`() {
    let (file, length) = (MadeFile(), 65_536)
    var gathered = unsafe GatheredWrites(longestWithoutThread: 0, file.write)
    // The last one is gathered.
    for (value, offset) in [(1, 0), (3, length), (2, 0), (3, length)] as [(UInt8, Int)] {
      #expect(write([UInt8](repeating: value, count: length), at: offset, &gathered) == 0)
    }
    let result = read(100, at: 0, of: file, &gathered)
    #expect(result.code == 0)
    #expect(result.bytes == [UInt8](repeating: 2, count: 100))
  }

  @Test func `frames are written together`() {
    let file = MadeFile()
    var gathered = unsafe GatheredWrites(file.write)
    _ = write([UInt8](repeating: 1, count: 32), at: 0, &gathered)
    for frame in 0..<100 {
      let offset = 32 + frame * 4_120
      _ = write([UInt8](repeating: 2, count: 24), at: offset, &gathered)
      _ = write([UInt8](repeating: 3, count: 4_096), at: offset + 24, &gathered)
    }
    // The header of a frame that is in memory is changed there.
    _ = write([UInt8](repeating: 4, count: 24), at: 32 + 99 * 4_120, &gathered)
    #expect(gathered.flush() == 0)
    let frames = 65_536 / 4_120
    #expect(file.writes.count == 100 / frames + 1)
    #expect(file.writes.allSatisfy { $0.count <= 65_536 })
    #expect(file.bytes.count == 32 + 100 * 4_120)
    #expect(file.bytes[32 + 99 * 4_120] == 4)
  }

  @Test func `after an error of a write, it begins anew`() {
    let file = MadeFile()
    var gathered = unsafe GatheredWrites(file.write)
    file.isFull = true
    for offset in [0, 100, 0] {
      #expect(
        write([1, 2, 3], at: offset, &gathered) == (offset == 100 ? MadeFile.full : 0))
    }
    #expect(gathered.flush() == MadeFile.full)
    #expect(file.bytes == [])
    file.isFull = false
    #expect(write([4, 5], at: 0, &gathered) == 0)
    #expect(gathered.flush() == 0)
    #expect(file.bytes == [4, 5])
  }

  @Test func `after an error of a read, the next write or flush fails too`() {
    for isFlushed in [false, true] {
      let file = MadeFile()
      var gathered = unsafe GatheredWrites(file.write)
      #expect(write([1, 2, 3], at: 0, &gathered) == 0)
      file.isFull = true
      for _ in 0..<2 { #expect(read(4, at: 0, of: file, &gathered).code == MadeFile.full) }
      file.isFull = false
      #expect((isFlushed ? gathered.flush() : write([9], at: 70_000, &gathered)) == MadeFile.full)
      #expect(file.bytes == [])
      #expect(write([4, 5], at: 0, &gathered) == 0)
      #expect(gathered.flush() == 0)
      #expect(file.bytes == [4, 5])
    }
  }

  @Test func `an error on the thread is reported to the next write, read and flush`() {
    for step in 0..<3 {
      let file = MadeFile()
      let (length, count) = (65_536, 3)
      var gathered = unsafe GatheredWrites(
        longestWithoutThread: Int64(count * length), file.write)
      func fill(_ pieces: Range<Int>) {
        for piece in pieces {
          let bytes = [UInt8](repeating: UInt8(piece), count: length)
          #expect(write(bytes, at: piece * length, &gathered) == 0)
        }
      }
      fill(0..<count + 1)
      file.isFull = true
      // The thread gets the last one.
      fill(count + 1..<count + 2)
      errno = 0
      let code =
        switch step {
        // A write waits for the thread only if all parts are used.
        case 0:
          (count + 2..<count + 2 + GatheredWrites.mostParts).lazy.map { piece in
            write([UInt8](repeating: 1, count: length), at: piece * length, &gathered)
          }.first { $0 != 0 } ?? 0
        case 1: read(1, at: 0, of: file, &gathered).code
        default: gathered.flush()
        }
      #expect((code, errno) == (MadeFile.full, EDQUOT))
      if step == 1 { #expect(gathered.flush() == MadeFile.full) }
      file.isFull = false
      #expect(gathered.flush() == 0)
      #expect(file.bytes.count == count * length)
    }
  }

  @Test func `after an error on the thread, nothing is written behind it`() {
    let (file, length) = (MadeFile(), 65_536)
    var gathered = unsafe GatheredWrites(longestWithoutThread: 0, file.write)
    for round in 0..<3 {
      let start = round * length
      file.badOffset = Int64(start + length)
      let codes = (0..<GatheredWrites.mostParts - 1).map { piece in
        write([UInt8](repeating: 1, count: length), at: start + piece * length, &gathered)
      }
      #expect(Set(codes) == [0])
      #expect(gathered.flush() == MadeFile.full)
      #expect(file.bytes.count == start + length)
      #expect(gathered.flush() == 0)
    }
    #expect(file.writes.count == 3)
  }

  @Test func `an error that a caller may ignore is reported once more`() {
    let file = MadeFile()
    var gathered = unsafe GatheredWrites(file.write)
    #expect(write([1], at: 0, &gathered) == 0)
    file.isFull = true
    for _ in 0..<2 { #expect(gathered.makeAll() == MadeFile.full) }
    file.isFull = false
    errno = 0
    let code = write([2], at: 1, &gathered)
    #expect((code, errno) == (MadeFile.full, EDQUOT))
    #expect(write([3], at: 0, &gathered) == 0)
    #expect(gathered.flush() == 0)
    #expect(file.bytes == [3])
  }
}

/// Databases with a write-ahead log whose writes are gathered.
@Suite struct GatheredLogFileTests {
  /// A database with a log, in a folder of its own.
  private final class Database {
    let folder = NSTemporaryDirectory() + "GatheredLogFileTests-\(UUID().uuidString)"
    var path: String { folder + "/a.db" }

    init() throws {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      let creator = try Connection(path: path, access: .create)
      try creator.execute("PRAGMA journal_mode = WAL")
      try creator.execute("CREATE TABLE a(id INTEGER PRIMARY KEY, text TEXT)")
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Copies the files as they are on the disk now, without the index of the log.
    ///
    /// - Returns: The rows that SQLite recovers from the copy.
    func rowsAfterCrash() throws -> Int64 {
      let copy = path + "-crashed.db"
      for suffix in ["", "-wal"] {
        try? FileManager.default.removeItem(atPath: copy + suffix)
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      try? FileManager.default.removeItem(atPath: copy + "-shm")
      let connection = try Connection(path: copy, access: .readWrite)
      #expect(try text("PRAGMA integrity_check", connection) == "ok")
      return try GatheredLogFileTests.rows(connection)
    }

    private func text(_ sql: String, _ connection: borrowing Connection) throws -> String {
      var statement = try connection.prepare(sql)
      _ = try statement.step()
      return String(decoding: statement.bytes(at: 0), as: UTF8.self)
    }
  }

  private static func rows(_ connection: borrowing Connection) throws -> Int64 {
    var statement = try connection.prepare("SELECT count(*), sum(length(text)) FROM a")
    _ = try statement.step()
    let rows = statement.integer(at: 0)
    #expect(statement.integer(at: 1) == rows * 2_000)
    return rows
  }

  private static func insert(_ rows: Int, _ connection: borrowing Connection) throws {
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(rows)) "
        + "INSERT INTO a(text) SELECT hex(zeroblob(1000)) FROM n")
  }

  @Test func `others see commits, and nothing else is on the disk after a crash`() throws {
    let database = try Database()
    let writer = try Connection(path: database.path, access: .readWrite)
    // So few pages fit into memory that most are written to the log before the commit, and read from there.
    try writer.execute("PRAGMA cache_size = 10")
    let reader = try Connection(path: database.path, access: .shared)
    #expect(try Self.rows(reader) == 0)
    for round in 1...3 {
      try writer.execute("BEGIN IMMEDIATE")
      try Self.insert(1_000, writer)
      // All pages change once more.
      try writer.execute("UPDATE a SET text = lower(text)")
      let before = Int64(round - 1) * 1_000
      #expect(try Self.rows(writer) == before + 1_000)
      #expect(try Self.rows(reader) == before)
      #expect(try database.rowsAfterCrash() == before)
      try writer.execute("COMMIT")
      #expect(try Self.rows(reader) == before + 1_000)
      #expect(try database.rowsAfterCrash() == before + 1_000)
    }
    try writer.execute("BEGIN IMMEDIATE")
    try writer.execute("DELETE FROM a")
    try writer.execute("ROLLBACK")
    #expect(try Self.rows(writer) == 3_000)
    try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try writer.execute("DELETE FROM a WHERE id > 500")
    #expect(try Self.rows(reader) == 500)
    #expect(try database.rowsAfterCrash() == 500)
  }

  @Test func `after a rollback, nothing is written over what others write`() throws {
    let database = try Database()
    let writer = try Connection(path: database.path, access: .readWrite)
    let other = try Connection(path: database.path, access: .create)
    try writer.execute("PRAGMA cache_size = 10")
    for round in 1...20 {
      // As many frames are yet to be written as differ from round to round.
      try writer.execute("BEGIN IMMEDIATE")
      try Self.insert(100 + round * 7, writer)
      try writer.execute("ROLLBACK")
      try Self.insert(100, other)
      #expect(try Self.rows(writer) == round * 110 - 10)
      try Self.insert(10, writer)
      #expect(try Self.rows(other) == round * 110)
      #expect(try database.rowsAfterCrash() == round * 110)
    }
  }

  @Test func `a rollback in exclusive mode leaves the log to others, too`() throws {
    let database = try Database()
    let writer = try Connection(path: database.path, access: .readWrite)
    try writer.execute("PRAGMA cache_size = 10")
    for round in 1...5 {
      try writer.execute("PRAGMA locking_mode = EXCLUSIVE")
      try writer.execute("BEGIN IMMEDIATE")
      try Self.insert(100 + round * 7, writer)
      try writer.execute("ROLLBACK")
      try writer.execute("PRAGMA locking_mode = NORMAL")
      #expect(try Self.rows(writer) == round * 110 - 110)
      let other = try Connection(path: database.path, access: .create)
      try Self.insert(100, other)
      try Self.insert(10, writer)
      #expect(try Self.rows(other) == round * 110)
      #expect(try database.rowsAfterCrash() == round * 110)
    }
  }

  @Test func `savepoints are rolled back as without gathering`() throws {
    // The rows that are seen, and those after a crash. SQLite 3.40.1 loses the commit after the largest savepoint.
    func rows(_ access: Connection.Access) throws -> [[Int64]] {
      let database = try Database()
      let writer = try Connection(path: database.path, access: access)
      try writer.execute("PRAGMA cache_size = 10")
      return try [1, 50, 200, 5_000].map { rows in
        try writer.execute("BEGIN IMMEDIATE")
        try Self.insert(30, writer)
        try writer.execute("SAVEPOINT a")
        try Self.insert(rows, writer)
        try writer.execute("ROLLBACK TO a")
        try Self.insert(20, writer)
        try writer.execute("COMMIT")
        return try [Self.rows(writer), database.rowsAfterCrash()]
      }
    }
    let gathered = try rows(.readWrite)
    #expect(try gathered == rows(.create))
    #expect(gathered.map(\.first) == [50, 100, 150, 200])
  }

  @Test func `the mode of the journal can change while the database is open`() throws {
    let database = try Database()
    let writer = try Connection(path: database.path, access: .readWrite)
    for (round, mode) in ["WAL", "DELETE", "WAL", "DELETE", "WAL"].enumerated() {
      try writer.execute("PRAGMA journal_mode = \(mode)")
      try Self.insert(10, writer)
      #expect(try Self.rows(writer) == (round + 1) * 10)
      let reader = try Connection(path: database.path, access: .shared)
      #expect(try Self.rows(reader) == (round + 1) * 10)
    }
  }

  @Test func `a commit is synchronized, whatever the library's default is`() throws {
    let database = try Database()
    let writer = try Connection(path: database.path, access: .readWrite)
    var statement = try writer.prepare("PRAGMA synchronous")
    _ = try statement.step()
    #expect(statement.integer(at: 0) == 3)
  }

  @Test func `closing the only connection leaves no log`() throws {
    let database = try Database()
    do {
      let writer = try Connection(path: database.path, access: .readWrite)
      try Self.insert(100, writer)
      #expect(FileManager.default.fileExists(atPath: database.path + "-wal"))
    }
    #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"))
    let reader = try Connection(path: database.path, access: .immutable)
    #expect(try Self.rows(reader) == 100)
  }
}
