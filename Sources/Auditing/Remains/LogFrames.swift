import Bytes
import Files
import SQLitePages

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
