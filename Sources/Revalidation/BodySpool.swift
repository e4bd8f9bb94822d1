import Bytes
import Files
public import ResponseStorage

/// A temporary file for bodies, several of which can be received at once.
public final class BodySpool {
  /// A contiguous range of the file with bytes of one body.
  public typealias Piece = Range<Int64>

  private var file: TemporaryFile

  /// Creates an empty spool in a folder.
  public init(in folder: String) throws {
    file = try TemporaryFile(in: folder)
  }

  /// Appends bytes to a body.
  public func append(_ bytes: [UInt8], to body: inout [Piece]) throws {
    let start = file.size
    try file.append(bytes)
    // Several bodies arrive at once, piece by piece. Without joining neighbours, a body of
    // gigabytes would have a list of a piece for every 64 KiB.
    if let last = body.last, last.upperBound == start {
      body[body.count - 1] = last.lowerBound..<file.size
    } else if !bytes.isEmpty {
      body.append(start..<file.size)
    }
  }

  /// Returns the body in some pieces; it is read lazily.
  public func body(of pieces: [Piece]) -> Body {
    let size = pieces.reduce(0 as ByteCount) { $0 + ByteCount($1.count) }
    return Body(size: size) { [self] in
      var rest = pieces[...]
      var offset: Int64 = 0
      return BodyReader(size: size) { [self] buffer in
        guard let piece = rest.first else { return 0 }
        let read = try readSome(into: &buffer, at: piece.lowerBound + offset)
        let count = min(read, Int(Int64(piece.count) - offset))
        offset += Int64(count)
        if offset == piece.count {
          rest.removeFirst()
          offset = 0
        }
        return count
      }
    }
  }

  private func readSome(into buffer: inout [UInt8], at offset: Int64) throws(StoreError) -> Int {
    do throws(FileError) {
      let count = try file.read(into: &buffer, at: offset)
      if count > 0 { return count }
    } catch {
      throw StoreError(.inputOutput, at: error.path, because: error.reason)
    }
    // The file has no name, so no other process can have cut it. A body that ended early without an
    // error would be stored as a whole one.
    throw StoreError(.inputOutput, at: nil, because: "a temporary file was truncated")
  }
}
