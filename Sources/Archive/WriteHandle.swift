internal import CArchive

/// A libarchive handle for writing, which is freed when its owner is destroyed.
@safe
struct WriteHandle: ~Copyable {
  let pointer: OpaquePointer
  /// The header of the next member, which is a regular file.
  let member: OpaquePointer
  /// The destination of the bytes.
  let output: ArchiveOutput

  init(_ output: ArchiveOutput) throws(ArchiveError) {
    try LibArchive.load()
    guard let pointer = unsafe archive_write_new() else { throw .outOfMemory }
    guard let member = unsafe archive_entry_new() else {
      _ = unsafe archive_write_free(pointer)
      throw .outOfMemory
    }
    unsafe archive_entry_set_filetype(member, CArchiveRegularFile)
    unsafe self.pointer = pointer
    unsafe self.member = member
    self.output = output
  }

  deinit {
    // Freeing the handle of an unfinished archive would write its end.
    output.isClosed = true
    _ = unsafe archive_write_free(pointer)
    unsafe archive_entry_free(member)
  }
}

extension WriteHandle {
  /// Starts an archive.
  borrowing func open(_ format: ArchiveFormat, level: Int, threads: Int) throws {
    switch format {
    case .tar: try check(unsafe archive_write_add_filter_none(pointer))
    case .tarGzip:
      try check(unsafe archive_write_add_filter_gzip(pointer))
      // Without a time, the same data always gives the same bytes.
      try set("gzip", "timestamp", nil)
      try set("gzip", "compression-level", "\(level)")
    case .tarZstd:
      try check(unsafe archive_write_add_filter_zstd(pointer))
      try set("zstd", "compression-level", "\(level)")
      // Even for one thread, zstd then compresses on a separate thread while the caller continues.
      try set("zstd", "threads", "\(threads)")
    case .zip: throw ArchiveError("zip archives are not written by libarchive")
    }
    // For these members, ustar gives the same bytes as pax, but is four times as fast.
    try check(unsafe archive_write_set_format_ustar(pointer))
    try open()
  }

  /// Starts a member with a name and a size in bytes.
  borrowing func begin(_ name: String, size: Int64) throws {
    unsafe name.withCString { unsafe archive_entry_set_pathname(member, $0) }
    // Without a size, libarchive 3.6.2 writes one of 0, drops all bytes that follow, and reports
    // neither.
    unsafe archive_entry_set_size(member, size)
    try check(unsafe archive_write_header(pointer, member))
  }

  /// Writes the end of the data.
  borrowing func close() throws { try check(unsafe archive_write_close(pointer)) }

  /// Starts gzip data with a single member.
  borrowing func openGzip(level: Int) throws {
    // The raw format adds nothing to the bytes of its only member, so the filter of libarchive
    // serves as a compressor without zlib being linked. Even this format demands a header before
    // the data.
    try check(unsafe archive_write_set_format_raw(pointer))
    try check(unsafe archive_write_add_filter_gzip(pointer))
    // Without a time, the same data always gives the same bytes.
    try set("gzip", "timestamp", nil)
    try set("gzip", "compression-level", "\(level)")
    try open()
    try check(unsafe archive_write_header(pointer, member))
  }

  /// Writes bytes of the current data.
  borrowing func write(_ bytes: ArraySlice<UInt8>) throws {
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe archive_write_data(pointer, bytes.baseAddress, bytes.count)
    }
    guard count == bytes.count else {
      // The filter keeps a pointer to bytes that it has not compressed, and reads them when it is freed.
      output.unwritten = bytes
      throw failure()
    }
  }

  private borrowing func set(_ filter: String, _ option: String, _ value: String?) throws {
    try check(unsafe archive_write_set_filter_option(pointer, filter, option, value))
  }

  private borrowing func open() throws {
    // Large chunks, and no padding at the end.
    // By default, libarchive fills the last block with zeros for tape drives, after the end of
    // compressed data too.
    try check(unsafe archive_write_set_bytes_per_block(pointer, 1 << 16))
    try check(unsafe archive_write_set_bytes_in_last_block(pointer, 1))
    // The handle owns its output, which therefore outlives the pointer.
    let context = unsafe Unmanaged.passUnretained(output).toOpaque()
    let code = unsafe archive_write_open2(
      pointer, context, nil,
      { handle, context, bytes, count in
        guard let context = unsafe context else { return -1 }
        let output = unsafe Unmanaged<ArchiveOutput>.fromOpaque(context).takeUnretainedValue()
        let isWritten = unsafe output.write(UnsafeRawBufferPointer(start: bytes, count: count))
        if isWritten { return count }
        unsafe carchive_set_error(handle, "cannot write the archive")
        return -1
      }, nil, nil)
    try check(code)
  }

  /// Throws an error unless a call succeeded.
  borrowing func check(_ code: Int32) throws {
    guard code == ARCHIVE_OK else { throw failure() }
  }

  /// Returns the error of the last call.
  borrowing func failure() -> any Error {
    unsafe output.failure ?? ArchiveError(of: pointer)
  }
}

/// The destination of libarchive's output.
final class ArchiveOutput {
  private let write: ([UInt8]) throws -> Void

  /// The last bytes written, kept to reuse their memory.
  private var piece: [UInt8] = []

  /// Whether further bytes are dropped.
  var isClosed = false

  /// The bytes that could not be written, kept at their address.
  var unwritten: ArraySlice<UInt8> = []

  /// Why the last bytes could not be written.
  private(set) var failure: (any Error)?

  init(writing write: @escaping ([UInt8]) throws -> Void) {
    self.write = write
  }

  /// Writes bytes, unless writing has failed before.
  ///
  /// - Returns: Whether they are written.
  func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if isClosed { return true }
    guard failure == nil else { return false }
    do {
      unsafe piece.replaceSubrange(0..<piece.count, with: bytes)
      try write(piece)
      return true
    } catch {
      failure = error
      return false
    }
  }
}
