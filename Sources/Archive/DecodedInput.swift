internal import CArchive

/// The decoded data of a compressed tar archive, in chunks.
@safe
final class DecodedInput {
  private let handle: ReadHandle
  private let input: ArchiveInput
  private let piece: UnsafeMutableRawBufferPointer

  /// The number of bytes decoded.
  private(set) var count: Int64 = 0

  /// The number of bytes in the last chunk.
  private var pieceCount = 0

  private var headerCheck = TarHeaderCheck()

  /// Why decoding stopped before the end, if it did.
  private(set) var failure: (any Error)?

  init(_ coding: ContentCoding, of input: ArchiveInput) throws {
    handle = try ReadHandle()
    self.input = input
    unsafe piece = .allocate(byteCount: 1 << 16, alignment: 16)
    // `self` is fully initialized, so `deinit` runs if an error is thrown below.
    // A filter that is appended is applied once. One that is merely supported is applied as often
    // as its signature matches, so a file compressed many times over would be decoded through all
    // layers.
    let filter = coding == .gzip ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_ZSTD
    // A warning means that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle.pointer, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle.pointer) == ARCHIVE_OK
    else { throw ArchiveError("this system's libarchive does not support \(coding.rawValue)") }
    var entry: OpaquePointer?
    guard unsafe input.open(handle.pointer),
      unsafe archive_read_next_header(handle.pointer, &entry) == ARCHIVE_OK
    else { throw unsafe input.failure ?? ArchiveError(of: handle.pointer) }
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// Returns the next chunk, which is valid until the next call; empty at the end, `nil` after a failure.
  func next() -> UnsafeRawBufferPointer? {
    guard failure == nil else { return nil }
    let read = unsafe archive_read_data(handle.pointer, piece.baseAddress, piece.count)
    guard read >= 0 else {
      unsafe failure = input.failure ?? ArchiveError(of: handle.pointer)
      return nil
    }
    count += Int64(read)
    pieceCount = read
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: piece[..<read])
    do throws(ArchiveError) { try unsafe headerCheck.check(bytes) } catch {
      failure = error
      return nil
    }
    return unsafe bytes
  }

  /// Returns what follows the first `used` bytes in the last chunk, or the next chunk if that is used up.
  func tail(from used: Int64) -> [UInt8] {
    let unused = Int(min(max(count - used, 0), Int64(pieceCount)))
    if unused == 0 { return unsafe next().map { unsafe Array($0) } ?? [] }
    return unsafe Array(piece[(pieceCount - unused)..<pieceCount])
  }
}
