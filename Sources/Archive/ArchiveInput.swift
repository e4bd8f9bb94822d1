/// A file from which libarchive reads an archive.
@safe
public final class ArchiveInput {
  let size: Int64

  /// Fills the start of an array with bytes from an offset.
  let readFile: (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The chunk that libarchive reads, at a fixed address.
  private let piece: UnsafeMutableBufferPointer<UInt8>

  /// The number of bytes in the last chunk.
  private var pieceCount = 0

  /// The offset of the next chunk.
  private(set) var offset: Int64 = 0

  /// The check of the chunks before libarchive reads them, for a tar archive.
  var headerCheck: TarHeaderCheck?

  /// Why a chunk could not be read.
  private(set) var failure: (any Error)?

  /// Creates an input.
  ///
  /// - Parameters:
  ///   - size: The length of the file in bytes; nothing beyond it is read.
  ///   - read: Fills the start of an array with bytes from an offset, and returns their number; 0 at the
  ///     end.
  public init(
    size: Int64, reading read: @escaping (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  ) {
    self.size = size
    readFile = read
    // libarchive keeps a pointer into the chunk until it requests the next one. The memory of an
    // array has no address that is promised to last between two calls.
    unsafe piece = .allocate(capacity: 1 << 16)
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// Returns the next chunk, which is valid until the next call; empty at the end, `nil` after a failure.
  func next() -> UnsafeRawBufferPointer? {
    guard failure == nil else { return nil }
    do {
      // A zip archive is read from its end. If the file grows meanwhile, the end at which
      // `ZipDirectoryCheck` found the directory must stay the end for libarchive too.
      let count = Int(min(Int64(try readFile(&buffer, offset)), size - offset))
      unsafe _ = piece.update(fromContentsOf: buffer[..<count])
      offset += Int64(count)
      pieceCount = count
      let bytes = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: piece[..<count]))
      try unsafe headerCheck?.check(bytes)
      return unsafe bytes
    } catch {
      failure = error
      return nil
    }
  }

  /// Returns what follows the first `used` bytes in the last chunk, or the next chunk if that is used up.
  func tail(from used: Int64) -> [UInt8] {
    // libarchive requests whole chunks, so the last one usually contains bytes after the end of the
    // archive that it has never looked at.
    let unused = Int(min(max(offset - used, 0), Int64(pieceCount)))
    if unused == 0 { return unsafe next().map { unsafe Array($0) } ?? [] }
    return unsafe Array(piece[(pieceCount - unused)..<pieceCount])
  }

  /// Moves to an offset, like `fseek`.
  ///
  /// - Returns: The offset; negative if it is not in the file.
  func seek(to offset: Int64, from origin: Int32) -> Int64 {
    let start =
      switch origin {
      case 0: 0 as Int64
      case 1: self.offset
      default: size
      }
    let (place, overflows) = start.addingReportingOverflow(offset)
    // The offset may come from the directory of a hostile zip archive, and be any number of 64
    // bits.
    guard !overflows, 0...size ~= place else { return -1 }
    do throws(ArchiveError) { try headerCheck?.passOver(place - self.offset) } catch {
      failure = error
      return -1
    }
    self.offset = place
    return place
  }
}
