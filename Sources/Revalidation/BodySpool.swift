import Bytes
import Files
public import ResponseStorage

/// Keeps bodies in a file without a name until they are needed; several come at once.
public final class BodySpool {
  /// Bytes of one body that follow each other in the file.
  public typealias Piece = Range<Int64>

  private var file: TemporaryFile

  /// Creates an empty spool in a folder.
  public init(in folder: String) throws {
    file = try TemporaryFile(in: folder)
  }

  /// Keeps more bytes of a body.
  public func append(_ bytes: [UInt8], to body: inout [Piece]) throws {
    let start = file.size
    try file.append(bytes)
    if let last = body.last, last.upperBound == start {
      body[body.count - 1] = last.lowerBound..<file.size
    } else if !bytes.isEmpty {
      body.append(start..<file.size)
    }
  }

  /// The body that is kept in some pieces, which is read when it is asked for.
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
    throw StoreError(.inputOutput, at: "body", because: "a temporary file is cut short")
  }
}
