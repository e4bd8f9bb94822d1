/// A file that libarchive reads an archive from.
@safe
public final class ArchiveInput {
  let size: Int64

  /// Fills the front of an array with bytes from a place on.
  let readFile: (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The memory of the piece that libarchive looks at: it stays where it is.
  private let piece: UnsafeMutableBufferPointer<UInt8>

  /// The number of bytes of the last piece.
  private var pieceCount = 0

  /// Where the next piece begins.
  private(set) var offset: Int64 = 0

  /// What looks at the pieces before libarchive does, if they are those of a tar archive.
  var headerCheck: TarHeaderCheck?

  /// Why a piece could not be read.
  private(set) var failure: (any Error)?

  /// Creates an input.
  ///
  /// - Parameters:
  ///   - size: The length of the file in bytes; what is beyond it is not read.
  ///   - read: Fills the front of an array with bytes from a place on, and returns their number; 0 at
  ///     the end.
  public init(
    size: Int64, reading read: @escaping (_ buffer: inout [UInt8], _ offset: Int64) throws -> Int
  ) {
    self.size = size
    readFile = read
    unsafe piece = .allocate(capacity: 1 << 16)
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// The next piece, which stays until the next call; without bytes at the end, `nil` after a failure.
  func next() -> UnsafeRawBufferPointer? {
    guard failure == nil else { return nil }
    do {
      let count = Int(min(Int64(try readFile(&buffer, offset)), size - offset))
      unsafe _ = piece.update(fromContentsOf: buffer[..<count])
      offset += Int64(count)
      pieceCount = count
      let bytes = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: piece[..<count]))
      try unsafe headerCheck?.take(bytes)
      return unsafe bytes
    } catch {
      failure = error
      return nil
    }
  }

  /// What comes after the first `used` bytes, of the last piece; of the next if that is used up.
  func tail(from used: Int64) -> [UInt8] {
    let unused = Int(min(max(offset - used, 0), Int64(pieceCount)))
    if unused == 0 { return unsafe next().map { unsafe Array($0) } ?? [] }
    return unsafe Array(piece[(pieceCount - unused)..<pieceCount])
  }

  /// Goes to a place, as `fseek` does.
  ///
  /// - Returns: The place; negative if there is none.
  func seek(to offset: Int64, from origin: Int32) -> Int64 {
    let start =
      switch origin {
      case 0: 0 as Int64
      case 1: self.offset
      default: size
      }
    let (place, overflows) = start.addingReportingOverflow(offset)
    guard !overflows, 0...size ~= place else { return -1 }
    do throws(ArchiveError) { try headerCheck?.passOver(place - self.offset) } catch {
      failure = error
      return -1
    }
    self.offset = place
    return place
  }
}
