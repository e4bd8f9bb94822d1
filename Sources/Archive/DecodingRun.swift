internal import CArchive

/// One run of libarchive over coded data: a member of gzip, or all frames of zstd.
@safe
struct DecodingRun: ~Copyable {
  private let handle: OpaquePointer
  private let coding: ContentCoding
  private let input: CodedInput
  private let start: Int64
  private var hasBytes = false

  /// Begins where `input` stands, at `start`.
  init(
    _ coding: ContentCoding, of input: CodedInput, from start: Int64
  ) throws(ContentDecodingError) {
    guard let handle = unsafe archive_read_new() else { fatalError("out of memory") }
    unsafe self.handle = handle
    self.coding = coding
    self.input = input
    self.start = start
    // From here on `self` is whole, so a failure runs `deinit`, which frees the handle.
    let filter =
      switch coding {
      case .gzip: ARCHIVE_FILTER_GZIP
      case .zstd: ARCHIVE_FILTER_ZSTD
      }
    // A warning says that libarchive would run another program.
    guard unsafe archive_read_append_filter(handle, filter) == ARCHIVE_OK,
      unsafe archive_read_support_format_raw(handle) == ARCHIVE_OK,
      unsafe archive_read_support_format_empty(handle) == ARCHIVE_OK
    else { throw .notSupported(coding) }
    try open()
  }

  deinit {
    unsafe archive_read_free(handle)
  }

  /// The place of the first byte that is not used up; beyond the end if a trailer is missing.
  var place: Int64 { start + max(0, unsafe archive_filter_bytes(handle, -1)) }

  /// Reads on, into the front of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at the end.
  mutating func read(into buffer: inout [UInt8]) throws(ContentDecodingError) -> Int {
    guard hasBytes else { return 0 }
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe archive_read_data(handle, bytes.baseAddress, bytes.count)
    }
    guard count >= 0 else { throw failure() }
    return count
  }

  private mutating func open() throws(ContentDecodingError) {
    // The input lives as long as `self`, which frees the handle first.
    let context = unsafe Unmanaged.passUnretained(input).toOpaque()
    let code = unsafe archive_read_open2(
      handle, context, nil,
      { handle, context, block in
        guard let context = unsafe context else { return -1 }
        let input = unsafe Unmanaged<CodedInput>.fromOpaque(context).takeUnretainedValue()
        let piece = unsafe input.nextPiece(used: max(0, archive_filter_bytes(handle, -1)))
        unsafe block?.pointee = piece.baseAddress
        return input.failure == nil ? piece.count : -1
      }, nil, nil)
    // The first bytes are decoded here, and what goes wrong then is only in the message: to the next
    // call, data that cannot be decoded is empty.
    guard code == ARCHIVE_OK, unsafe archive_error_string(handle) == nil else { throw failure() }
    var entry: OpaquePointer?
    switch unsafe archive_read_next_header(handle, &entry) {
    case ARCHIVE_OK: hasBytes = true
    case ARCHIVE_EOF where unsafe archive_error_string(handle) == nil: hasBytes = false
    default: throw failure()
    }
  }

  private func failure() -> ContentDecodingError {
    if input.isExhausted { return .endsTooEarly(input.end) }
    let message = unsafe archive_error_string(handle)
    return .broken(from: place, because: unsafe message.map { unsafe String(cString: $0) })
  }
}
