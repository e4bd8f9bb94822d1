public import Bytes
import Files
import SQLite

/// A sequential reader of a body.
///
/// It has what a copyable ``Body`` cannot have: an open file or BLOB, and the position in it.
public struct BodyReader: ~Copyable {
  private enum Source: ~Copyable {
    case blob(Blob)
    case file(OpenFile)
    case part(FilePart)
    case bytes([UInt8])
    case closure((inout [UInt8]) throws -> Int)
  }

  /// A file, and the offset of the body in it.
  private struct FilePart: ~Copyable {
    let file: OpenFile
    let start: Int64
  }

  private let source: Source
  private var offset = 0

  /// The number of bytes.
  public let size: ByteCount

  /// Whether a held signal ends reading with an error.
  var endsOnSignals = false

  init(_ blob: consuming Blob) {
    size = ByteCount(blob.count)
    source = .blob(blob)
  }

  init(_ file: consuming OpenFile, size: ByteCount) {
    self.size = size
    source = .file(file)
  }

  /// Creates a reader of a part of a file.
  init(_ file: consuming OpenFile, range: Range<Int64>) {
    size = ByteCount(range.count)
    source = .part(FilePart(file: file, start: range.lowerBound))
  }

  /// Whether the file is far longer than the data written to it. Check this before the first read.
  var isSparse: Bool {
    get throws(StoreError) {
      do throws(FileError) {
        switch source {
        case .file(let file): return try file.isSparse()
        case .part(let part): return try part.file.isSparse()
        case .blob: return false
        case .bytes: return false
        case .closure: return false
        }
      } catch {
        throw StoreError(error, path: error.path)
      }
    }
  }

  /// Creates a reader of bytes that are in memory.
  public init(_ bytes: [UInt8]) {
    size = ByteCount(bytes.count)
    source = .bytes(bytes)
  }

  /// Creates a reader of bytes from another source.
  ///
  /// - Parameter read: Reads the next bytes into the start of an array, and returns their number; 0 at the
  ///   end.
  public init(size: ByteCount, reading read: @escaping (inout [UInt8]) throws -> Int) {
    self.size = size
    source = .closure(read)
  }

  /// Returns the remaining bytes if they are in memory; otherwise nothing happens.
  public mutating func takeBytes() -> ArraySlice<UInt8>? {
    switch source {
    case .bytes(let bytes):
      defer { offset = bytes.count }
      return bytes[offset...]
    case .blob: return nil
    case .file: return nil
    case .part: return nil
    case .closure: return nil
    }
  }

  /// Reads the next bytes into the start of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  /// - Throws: ``StoreError`` if a file or a database cannot be read, or any error of the source.
  public mutating func read(into buffer: inout [UInt8]) throws -> Int {
    // A body can have gigabytes, and a user who has pressed Control-C should not wait for its end.
    if endsOnSignals, HeldSignals.areWaiting { throw FileError.interrupted(at: "body") }
    switch source {
    case .blob(let blob):
      let count = min(buffer.count, blob.count - offset)
      guard count > 0 else { return 0 }
      do throws(SQLiteError) {
        try blob.read(into: &buffer, count: count, at: offset)
      } catch {
        throw StoreError(error, path: nil)
      }
      offset += count
      return count
    // The position of the descriptor is used, as this reader is the only one that has it.
    case .file(let file):
      do throws(FileError) { return try file.read(into: &buffer) } catch {
        throw StoreError(error, path: file.path)
      }
    case .part(let part):
      let wanted = min(buffer.count, Int(clamping: size.bytes) - offset)
      guard wanted > 0 else { return 0 }
      let count: Int
      do throws(FileError) {
        count = try part.file.read(wanted, at: part.start + Int64(offset), into: &buffer)
      } catch {
        throw StoreError(error, path: part.file.path)
      }
      offset += count
      return count
    case .bytes(let bytes):
      let count = min(buffer.count, bytes.count - offset)
      buffer.replaceSubrange(0..<count, with: bytes[offset..<offset + count])
      offset += count
      return count
    case .closure(let read): return try read(&buffer)
    }
  }

  /// Calls `body` with the remaining bytes, in chunks of at most 64 KiB.
  public mutating func forEachChunk(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
    // Most bodies are short and need only a short buffer.
    var buffer = [UInt8](repeating: 0, count: Int(clamping: min(max(size.bytes, 1), 1 << 16)))
    while case let count = try read(into: &buffer), count > 0 { try body(buffer[..<count]) }
  }

  /// Reads the remaining bytes. The body must be known to fit into memory.
  ///
  /// - Throws: ``StoreError`` if there are more or fewer bytes than ``size``.
  mutating func readAll() throws -> [UInt8] {
    // One more byte, to detect a file that has grown.
    // The size was measured when the body was opened, and an app can write to the file until it is
    // read.
    var all = [UInt8](repeating: 0, count: Int(clamping: size.bytes) + 1)
    var count = try read(into: &all)
    // The source may return fewer bytes than requested.
    while count > 0, ByteCount(count) < size {
      var piece = [UInt8](repeating: 0, count: all.count - count)
      let more = try read(into: &piece)
      if more == 0 { break }
      all.replaceSubrange(count..<count + more, with: piece[..<more])
      count += more
    }
    all.removeLast(all.count - count)
    guard ByteCount(count) == size else {
      throw StoreError(.changedWhileReading, at: nil, because: "the length of a body changed")
    }
    return all
  }
}
