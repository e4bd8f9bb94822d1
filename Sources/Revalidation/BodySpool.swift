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

  /// A body as a part of a response, which is read when it is asked for.
  public func contents(of body: [Piece]) -> RawResponse.Part.Contents {
    let size = body.reduce(0 as ByteCount) { $0 + ByteCount($1.count) }
    return .stream(
      .init(size: size) { [self] read in
        var rest = body[...]
        var offset: Int64 = 0
        var reader = BodyReader(size: size) { [self] buffer throws(StoreError) in
          guard let piece = rest.first else { return 0 }
          let count = try readSome(into: &buffer, at: piece.lowerBound + offset)
          let taken = min(count, Int(Int64(piece.count) - offset))
          offset += Int64(taken)
          if offset == piece.count {
            rest.removeFirst()
            offset = 0
          }
          return taken
        }
        try read(&reader)
      })
  }

  /// Passes all bytes of a body on, piece by piece.
  func read(_ body: [Piece], _ take: (ArraySlice<UInt8>) throws -> Void) throws {
    guard case .stream(let stream) = contents(of: body) else { return }
    try stream.read { reader in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = try reader.read(into: &buffer), count > 0 {
        try take(buffer[..<count])
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
