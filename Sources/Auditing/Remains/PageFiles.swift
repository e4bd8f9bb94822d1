import Bytes
import Files
import SQLitePages

/// The pages of a database as SQLite sees them: those of the file, with the frames of its log over them.
final class PageFiles: PageReading {
  /// The header of the database in its present state.
  let header: DatabaseHeader

  /// The names of the database and of its log.
  let name, logName: ByteString

  /// The number of pages, by the lengths of the files: that in the header can be wrong.
  let pageCount: UInt32

  /// The frames that SQLite reads, by the numbers of their pages.
  let frames: [UInt32: Int]

  /// The log; `nil` if there is none.
  let log: LogFrames?

  private let database: OpenFile

  /// The number of pages of the database file.
  let databasePages: UInt32

  /// Opens the files; `nil` if the first is not a database.
  init?(_ name: String, in folder: borrowing Directory) throws(FileError) {
    let database = try OpenFile(reading: name, in: folder)
    let first = try database.read(DatabaseHeader.length, at: 0)
    guard var header = DatabaseHeader(first.span) else { return nil }
    let size = try database.status().size.bytes
    let log = LogFrames("\(name)-wal", in: folder, pageSize: header.pageSize)
    let frames = try log?.committed() ?? [:]
    // The first page can be in the log, with a new list of free pages.
    var page: [UInt8] = []
    if let log, let frame = frames[1], try log.read(frame, into: &page) != nil {
      header = DatabaseHeader(page.span) ?? header
    }
    databasePages = UInt32(clamping: size / Int64(header.pageSize))
    // Each page that the database does not have needs a frame. A hostile frame can name any page.
    let most = UInt32(clamping: Int(databasePages) + frames.count)
    pageCount = min(max(databasePages, frames.keys.max() ?? 0), most)
    (self.name, logName) = (ByteString(name), ByteString("\(name)-wal"))
    (self.header, self.frames, self.log) = (header, frames, log)
    self.database = database
  }

  /// Reads a page in its present state.
  func read(_ page: UInt32, into buffer: inout [UInt8]) throws -> Bool {
    if let frame = frames[page] { return try log?.read(frame, into: &buffer) != nil }
    return try readFromDatabase(page, into: &buffer)
  }

  /// Returns the place of a page in its present state.
  func place(of page: UInt32) -> AuditPlace {
    if let frame = frames[page] { return .page(file: logName, frame: frame, page: page) }
    return .page(file: name, frame: nil, page: page)
  }

  /// Calls `body` with the pages of the database file in order, except for those in its holes.
  ///
  /// A file of a few bytes can be as long as its author likes, if it is one large hole.
  func forEachDatabasePage(_ body: (UInt32) throws -> Void) throws {
    let length = Int64(header.pageSize)
    let end = Int64(databasePages) * length
    var offset: Int64 = 0
    while let part = database.nextData(from: offset, size: end) {
      offset = (part.upperBound + length - 1) / length * length
      for number in part.lowerBound / length..<offset / length { try body(UInt32(number + 1)) }
    }
  }

  /// Reads a page of the database file, which can have a newer state in the log.
  func readFromDatabase(_ page: UInt32, into buffer: inout [UInt8]) throws(FileError) -> Bool {
    guard page >= 1, page <= databasePages else { return false }
    buffer = try database.read(
      header.pageSize, at: Int64(page - 1) * Int64(header.pageSize))
    return buffer.count == header.pageSize
  }
}

/// The bytes of pages, in which one value follows the other without anything between them.
enum RawText {
  /// Returns a copy in which a NUL stands between values, so that a secret ends where its value ends.
  ///
  /// Nothing is moved. What is overwritten is the mark of a string in a property list, which can be a letter, and the
  /// first digit of the time that follows a URL.
  static func separated(_ page: ArraySlice<UInt8>) -> [UInt8] {
    var text = Array(page)
    var place = 0
    while place + 3 < text.count {
      if text[place] == longString, let content = longContent(of: text, at: place) {
        for index in place..<content.lowerBound { text[index] = 0 }
        place = endOfStrings(in: &text, at: content.upperBound)
      } else if text[place] == UInt8(ascii: "2"), isTime(text, at: place) {
        text[place] = 0
        place += 19
      } else {
        place += 1
      }
    }
    return text
  }

  /// The mark of a string of 15 or more characters, which is a `_`.
  private static let longString: UInt8 = 0x5F

  /// Returns the range of the content of a string whose length has one or two bytes.
  private static func longContent(of text: [UInt8], at place: Int) -> Range<Int>? {
    let start: Int
    let count: Int
    switch text[place + 1] {
    case 0x10: (start, count) = (place + 3, Int(text[place + 2]))
    case 0x11: (start, count) = (place + 4, Int(text[place + 2]) << 8 | Int(text[place + 3]))
    default: return nil
    }
    guard count > 0, start + count <= text.count,
      text[start..<start + count].allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A })
    else { return nil }
    return start..<start + count
  }

  /// Overwrites the marks of the short strings that follow, and returns where they end.
  private static func endOfStrings(in text: inout [UInt8], at end: Int) -> Int {
    var place = end
    while place < text.count, (0x51...0x5E).contains(text[place]) {
      let count = Int(text[place] & 0x0F)
      text[place] = 0
      guard place + 1 + count <= text.count else { return text.count }
      place += 1 + count
    }
    return place
  }

  /// Whether a time as SQLite writes it is at a place: `2026-01-31 12:00:00`.
  private static func isTime(_ text: [UInt8], at place: Int) -> Bool {
    let shape = Array("dddd-dd-dd dd:dd:dd".utf8)
    guard place + shape.count <= text.count else { return false }
    for (index, kind) in shape.enumerated() {
      let byte = text[place + index]
      guard kind == UInt8(ascii: "d") ? byte.isASCIIDigit : byte == kind else { return false }
    }
    return true
  }
}

/// The frames of the write-ahead log of a database, also those of earlier generations.
final class LogFrames {
  /// The header of the log.
  let log: WriteAheadLog

  private let file: OpenFile

  /// The number of frames, by the length of the file.
  let count: Int

  /// Opens a log.
  ///
  /// - Returns: `nil` if there is none, or its pages are not those of the database.
  init?(_ name: String, in folder: borrowing Directory, pageSize: Int) {
    guard let file = try? OpenFile(reading: name, in: folder),
      let start = try? file.read(WriteAheadLog.headerLength, at: 0),
      let log = WriteAheadLog(start.span), log.pageSize == pageSize,
      let size = try? file.status().size.bytes
    else { return nil }
    let bytes = max(0, size - Int64(WriteAheadLog.headerLength))
    count = Int(clamping: bytes / Int64(log.frameLength))
    self.log = log
    self.file = file
  }

  /// Returns the last committed frame of each page.
  func committed() throws(FileError) -> [UInt32: Int] {
    var (log, pending, result) = (log, [UInt32: Int](), [UInt32: Int]())
    var number = 1
    while number <= count {
      let bytes = try file.read(log.frameLength, at: log.offset(ofFrame: number))
      number += 1
      // No frame after one that is not valid belongs to a transaction.
      guard let frame = log.next(bytes.span, at: 0), frame.check == .current else { break }
      pending[frame.page] = frame.number
      guard frame.pageCount > 0 else { continue }
      result.merge(pending) { $1 }
      pending = [:]
    }
    return result
  }

  /// Returns the next frame, from one on, that is in no hole of the file; `nil` if there is none.
  func next(from number: Int) -> Int? {
    let offset = log.offset(ofFrame: number)
    guard number <= count,
      let data = file.nextData(from: offset, size: log.offset(ofFrame: count + 1))
    else { return nil }
    return number + Int((data.lowerBound - offset) / Int64(log.frameLength))
  }

  /// Reads the page of a frame, and returns its number; `nil` if there is no such frame.
  func read(_ number: Int, into buffer: inout [UInt8]) throws(FileError) -> UInt32? {
    let bytes = try file.read(log.frameLength, at: log.offset(ofFrame: number))
    guard bytes.count == log.frameLength else { return nil }
    buffer = Array(bytes[WriteAheadLog.frameHeaderLength...])
    return bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
