public import Bytes
import Files
import SQLite

/// The stored body of a response, read piece by piece.
public struct BodyReader: ~Copyable {
  private enum Source: ~Copyable {
    case blob(Blob)
    case file(OpenFile)
    case part(FilePart)
    case bytes([UInt8])
    case pieces((inout [UInt8]) throws(StoreError) -> Int)
  }

  /// A file, and where in it the body begins.
  private struct FilePart: ~Copyable {
    let file: OpenFile
    let start: Int64
  }

  private let source: Source
  private var offset = 0

  /// The number of bytes.
  public let size: ByteCount

  /// Whether a signal that is held back ends the reading, which is an error then.
  public var endsOnSignals = false

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

  /// Whether it reads a file that claims to be far longer than what was written to it, which nothing was read of yet.
  var isSparse: Bool {
    get throws(StoreError) {
      do throws(FileError) {
        switch source {
        case .file(let file): return try file.isSparse()
        case .part(let part): return try part.file.isSparse()
        case .blob: return false
        case .bytes: return false
        case .pieces: return false
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

  /// Creates a reader of bytes that come from elsewhere.
  ///
  /// - Parameter read: Reads on, into the front of an array, and returns the number of bytes; 0 at the
  ///   end.
  public init(size: ByteCount, reading read: @escaping (inout [UInt8]) throws(StoreError) -> Int) {
    self.size = size
    source = .pieces(read)
  }

  /// Reads on, into the front of `buffer`, which must not be empty.
  ///
  /// - Returns: The number of bytes read; 0 at the end.
  public mutating func read(into buffer: inout [UInt8]) throws(StoreError) -> Int {
    if endsOnSignals, HeldSignals.areWaiting {
      throw StoreError(.inputOutput, at: "body", because: "a signal came")
    }
    switch source {
    case .blob(let blob):
      let count = min(buffer.count, blob.count - offset)
      guard count > 0 else { return 0 }
      do throws(SQLiteError) {
        try blob.read(into: &buffer, count: count, at: offset)
      } catch {
        throw StoreError(error, path: "body")
      }
      offset += count
      return count
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
    case .pieces(let read): return try read(&buffer)
    }
  }
}
