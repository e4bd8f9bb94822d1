internal import CArchive

/// What comes out of a compressed tar archive, piece by piece.
@safe
final class DecodedInput {
  private let handle: ReadHandle
  private let input: ArchiveInput
  private let piece: UnsafeMutableRawBufferPointer

  /// The number of bytes that came out.
  private(set) var count: Int64 = 0

  /// The number of bytes of the last piece.
  private var pieceCount = 0

  private var headerCheck = TarHeaderCheck()

  /// Why no more comes out, if that is not the end.
  private(set) var failure: (any Error)?

  init(_ coding: ContentCoding, of input: ArchiveInput) throws {
    handle = try ReadHandle()
    self.input = input
    unsafe piece = .allocate(byteCount: 1 << 16, alignment: 16)
    // From here on `self` is whole, so a failure runs `deinit`.
    let filter = coding == .gzip ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_ZSTD
    // A warning says that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle.pointer, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle.pointer) == ARCHIVE_OK
    else { throw ArchiveError("this system's libarchive has no \(coding.rawValue)") }
    var entry: OpaquePointer?
    guard unsafe input.open(handle.pointer),
      unsafe archive_read_next_header(handle.pointer, &entry) == ARCHIVE_OK
    else { throw unsafe input.failure ?? ArchiveError(of: handle.pointer) }
  }

  deinit {
    unsafe piece.deallocate()
  }

  /// The next piece, which stays until the next call; without bytes at the end, `nil` after a failure.
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
    do throws(ArchiveError) { try unsafe headerCheck.take(bytes) } catch {
      failure = error
      return nil
    }
    return unsafe bytes
  }

  /// What comes after the first `used` bytes, of the last piece; of the next if that is used up.
  func tail(from used: Int64) -> [UInt8] {
    let unused = Int(min(max(count - used, 0), Int64(pieceCount)))
    if unused == 0 { return unsafe next().map { unsafe Array($0) } ?? [] }
    return unsafe Array(piece[(pieceCount - unused)..<pieceCount])
  }
}
