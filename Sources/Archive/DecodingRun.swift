internal import CArchive

/// A run of libarchive over coded data: a gzip member, or all frames of zstd.
@safe
struct DecodingRun: ~Copyable {
  private let handle: ReadHandle
  private let input: CodedInput
  private let start: Int64
  private let hasBytes: Bool

  /// Starts at the position of `input`, which is `start`.
  init(
    _ coding: ContentCoding, of input: CodedInput, from start: Int64
  ) throws(ContentDecodingError) {
    let handle: ReadHandle
    do throws(ArchiveError) { handle = try ReadHandle() } catch { throw .outOfMemory }
    let filter =
      switch coding {
      case .gzip: ARCHIVE_FILTER_GZIP
      case .zstd: ARCHIVE_FILTER_ZSTD
      }
    // A warning means that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle.pointer, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle.pointer) == ARCHIVE_OK,
      // Without this format, valid data that decodes to nothing would be an unknown archive.
      unsafe archive_read_support_format_empty(handle.pointer) == ARCHIVE_OK
    else { throw .notSupported(coding) }
    hasBytes = try Self.open(handle, input, start)
    self.handle = handle
    self.input = input
    self.start = start
  }

  /// The offset of the first unused byte, which is beyond the end if a trailer is missing.
  var place: Int64 { handle.place(from: start) }

  /// Reads the next bytes into the start of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at the end.
  mutating func read(into buffer: inout [UInt8]) throws(ContentDecodingError) -> Int {
    guard hasBytes else { return 0 }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe archive_read_data(handle.pointer, bytes.baseAddress, bytes.count)
    }
    guard count >= 0 else { throw handle.failure(of: input, from: start) }
    return count
  }

  /// Starts to decode.
  ///
  /// - Returns: Whether there is anything to decode.
  private static func open(
    _ handle: borrowing ReadHandle, _ input: CodedInput, _ start: Int64
  ) throws(ContentDecodingError) -> Bool {
    // The input outlives the handle: the run owns both, and frees the handle first.
    let context = unsafe Unmanaged.passUnretained(input).toOpaque()
    let code = unsafe archive_read_open2(
      handle.pointer, context, nil,
      { handle, context, block in
        guard let context = unsafe context else { return -1 }
        let input = unsafe Unmanaged<CodedInput>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe input.nextPiece(used: max(0, archive_filter_bytes(handle, -1)))
        unsafe block?.pointee = piece.baseAddress
        return input.failure == nil ? piece.count : -1
      }, nil, nil)
    // libarchive decodes the first bytes here, and reports their errors only in the message: for the next call,
    // data that cannot be decoded is empty.
    guard code == ARCHIVE_OK, unsafe archive_error_string(handle.pointer) == nil else {
      throw handle.failure(of: input, from: start)
    }
    var entry: OpaquePointer?
    switch unsafe archive_read_next_header(handle.pointer, &entry) {
    case ARCHIVE_OK: return true
    case ARCHIVE_EOF where unsafe archive_error_string(handle.pointer) == nil: return false
    default: throw handle.failure(of: input, from: start)
    }
  }
}

extension ReadHandle {
  /// Returns the offset of the first unused byte, for data that starts at `start`.
  fileprivate borrowing func place(from start: Int64) -> Int64 {
    start + max(0, unsafe archive_filter_bytes(pointer, -1))
  }

  fileprivate borrowing func failure(
    of input: CodedInput, from start: Int64
  ) -> ContentDecodingError {
    if input.isExhausted { return .endsTooEarly(input.end) }
    let message = unsafe archive_error_string(pointer)
    return .broken(
      from: place(from: start), because: unsafe message.map { unsafe String(cString: $0) })
  }
}
