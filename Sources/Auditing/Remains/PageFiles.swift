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
