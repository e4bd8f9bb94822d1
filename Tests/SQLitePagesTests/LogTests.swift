import SQLitePages
import Testing

@Suite struct LogTests {
  private func frames(_ bytes: [UInt8]) throws -> (WriteAheadLog, [WriteAheadLog.Frame]) {
    var log = try #require(WriteAheadLog(bytes))
    let first = log
    var frames: [WriteAheadLog.Frame] = []
    var start = WriteAheadLog.headerLength
    while start + log.frameLength <= bytes.count {
      if let frame = log.next(bytes.span, at: start) { frames.append(frame) }
      start += log.frameLength
    }
    return (first, frames)
  }

  @Test func `the frames of all generations are found`() throws {
    let bytes = try Databases.bytes("killed.db-wal")
    let (log, frames) = try frames(bytes)
    let count = try #require(
      Int(String(decoding: Databases.bytes("log-frames"), as: UTF8.self)))
    #expect(log.pageSize == 1_024)
    let current = frames.filter { $0.check == .current }
    #expect(current.map(\.number) == Array(1...count))
    #expect(current.last?.pageCount ?? 0 > 0)
    #expect(current.allSatisfy { $0.salt == log.salt })
    // The first frame after those of the second generation continues one that is overwritten.
    let earlier = frames.dropFirst(count)
    #expect(earlier.count > 20)
    #expect(earlier.first?.check == .unknown)
    #expect(earlier.dropFirst().allSatisfy { $0.check == .continued })
    #expect(earlier.allSatisfy { $0.salt.first &+ 1 == log.salt.first })
    #expect(log.offset(ofFrame: 2) == 32 + 24 + 1_024)
    // Pages of the log are what SQLite copies into the database.
    var pages = MemoryPages(bytes: try Databases.bytes("log.db"), pageSize: 1_024)
    var last: [UInt32: Int] = [:]
    for frame in current { last[frame.page] = frame.number }
    var page: [UInt8] = []
    for (number, frame) in last {
      #expect(try pages.read(number, into: &page))
      let start = Int(log.offset(ofFrame: frame)) + 24
      #expect(Array(bytes[start..<start + 1_024]) == page, "page \(number)")
    }
  }

  @Test func `a changed bit ends the present generation`() throws {
    let bytes = try Databases.bytes("killed.db-wal")
    let (_, whole) = try frames(bytes)
    let count = whole.filter { $0.check == .current }.count
    for bit in [0, 5, 24 * 8 + 1, 1_040 * 8] {
      var changed = bytes
      changed[32 + 1_048 + bit / 8] ^= 1 << UInt8(bit % 8)
      let (_, found) = try frames(changed)
      #expect(found.map(\.check).prefix(2) == [.current, .wrong], "bit \(bit)")
      #expect(found.filter { $0.check == .current }.count == 1)
      // The checksum in the damaged frame is right, so the frames after it are still verified.
      #expect(found.filter { $0.check == .continued }.count >= count - 2)
    }
    var header = bytes
    header[25] ^= 1
    #expect(try frames(header).1.allSatisfy { $0.check != .current })
  }

  @Test func `the pages of a journal are those before the transaction`() throws {
    let before = try Databases.bytes("before.db")
    for name in ["hot", "journal"] {
      let bytes = try Databases.bytes("\(name).db-journal")
      let journal = try #require(RollbackJournal(bytes, pageSize: 1_024))
      #expect(journal.isHot == (name == "hot"))
      #expect(journal.pageCount == (name == "hot" ? UInt32(before.count / 1_024) : 0))
      let entries = try journal.entries(length: Int64(bytes.count)) { count, offset in
        Array(bytes[Int(offset)...].prefix(count))
      }
      #expect(entries.count > 20)
      #expect(Set(entries.map(\.page)).count == entries.count)
      var changed = 0
      let database = try Databases.bytes("\(name).db")
      for entry in entries {
        let (start, place) = (Int(entry.offset), Int(entry.page - 1) * 1_024)
        let page = Array(bytes[start..<start + 1_024])
        #expect(page == Array(before[place..<place + 1_024]), "page \(entry.page)")
        if page != Array(database[place..<place + 1_024]) { changed += 1 }
      }
      #expect(changed > 10)
    }
    #expect(RollbackJournal([UInt8](repeating: 1, count: 600), pageSize: 512) == nil)
  }

  @Test func `a journal also has pages from before earlier transactions`() throws {
    let bytes = try Databases.bytes("kept.db-journal")
    let journal = try #require(RollbackJournal(bytes, pageSize: 1_024))
    #expect(!journal.isHot)
    let entries = try journal.entries(length: Int64(bytes.count)) { count, offset in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    // The last transaction is number 0, and its state before it is the last copy.
    let counts = (0..<4).map { number in entries.filter { $0.transaction == number }.count }
    #expect(counts[0] > 0 && counts[1] > counts[0] && counts[2] > counts[1], "\(counts)")
    for entry in entries where entry.transaction < 3 {
      let before = try Databases.bytes("kept-\(2 - entry.transaction).db")
      let (start, place) = (Int(entry.offset), Int(entry.page - 1) * 1_024)
      #expect(bytes[start..<start + 1_024] == before[place..<place + 1_024], "\(entry)")
    }
    #expect(Set(entries.map { [Int($0.page), $0.transaction] }).count == entries.count)
  }
}
