internal import CArchive

/// An archive that is being written, member by member.
///
/// The same members give the same bytes, whenever and by whomever they are written: no times, no
/// owners, one mode. Call ``finish()`` when every member is in; an archive that is not finished has no
/// end.
@safe
public struct ArchiveWriter: ~Copyable {
  private let handle: OpaquePointer
  private let output: ArchiveOutput
  private let format: ArchiveFormat
  private var missing: Int64 = 0

  /// Begins an archive.
  ///
  /// - Parameters:
  ///   - level: How hard to compress, one of the levels of the format; `nil` for 3 with zstd, and 6
  ///     with gzip and zip.
  ///   - threads: The number of threads that zstd compresses with.
  ///   - write: Takes the next bytes of the archive.
  /// - Throws: ``ArchiveError``, or what `write` throws.
  public init(
    _ format: ArchiveFormat, level: Int? = nil, threads: Int = 1,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    guard let handle = unsafe archive_write_new() else { fatalError("out of memory") }
    unsafe self.handle = handle
    self.format = format
    output = ArchiveOutput(writing: write)
    // From here on `self` is whole, so a failure runs `deinit`, which frees the handle.
    try setUp(level ?? (format == .tarZstd ? 3 : 6), threads)
  }

  deinit {
    // Freeing an archive that was not finished would write its end.
    output.isClosed = true
    unsafe archive_write_free(handle)
  }

  private borrowing func setUp(_ level: Int, _ threads: Int) throws {
    switch format {
    case .tar: try check(unsafe archive_write_add_filter_none(handle))
    case .tarGzip:
      try check(unsafe archive_write_add_filter_gzip(handle))
      try set("gzip", "timestamp", nil)
      try set("gzip", "compression-level", "\(level)")
    case .tarZstd:
      try check(unsafe archive_write_add_filter_zstd(handle))
      try set("zstd", "compression-level", "\(level)")
      if threads > 1 { try set("zstd", "threads", "\(threads)") }
    case .zip: break
    }
    if format == .zip {
      try check(unsafe archive_write_set_format_zip(handle))
      try check(unsafe archive_write_zip_set_compression_deflate(handle))
      try check(
        unsafe archive_write_set_format_option(handle, "zip", "compression-level", "\(level)"))
    } else {
      try check(unsafe archive_write_set_format_pax_restricted(handle))
    }
    // Large pieces, and no padding at the end.
    try check(unsafe archive_write_set_bytes_per_block(handle, 1 << 16))
    try check(unsafe archive_write_set_bytes_in_last_block(handle, 1))
    try open()
  }

  private borrowing func set(_ filter: String, _ option: String, _ value: String?) throws {
    try check(unsafe archive_write_set_filter_option(handle, filter, option, value))
  }

  private borrowing func open() throws {
    // The output lives as long as `self`, which frees the handle first.
    let context = unsafe Unmanaged.passUnretained(output).toOpaque()
    let code = unsafe archive_write_open2(
      handle, context, nil,
      { handle, context, bytes, count in
        guard let context = unsafe context else { return -1 }
        let output = unsafe Unmanaged<ArchiveOutput>.fromOpaque(context).takeUnretainedValue()
        let isWritten = unsafe output.take(UnsafeRawBufferPointer(start: bytes, count: count))
        if isWritten { return count }
        unsafe carchive_set_error(handle, "the archive cannot be written")
        return -1
      }, nil, nil)
    try check(code)
  }

  /// Begins a member, a regular file.
  ///
  /// - Parameters:
  ///   - name: Its name, in ASCII.
  ///   - size: The number of bytes that will be appended, exactly.
  /// - Throws: ``ArchiveError``, or what the closure of the writer throws.
  public mutating func begin(_ name: String, size: Int64) throws {
    precondition(missing == 0, "the last member is not whole")
    let entry = unsafe archive_entry_new()
    defer { unsafe archive_entry_free(entry) }
    unsafe archive_entry_set_pathname(entry, name)
    unsafe archive_entry_set_filetype(entry, CArchiveRegularFile)
    unsafe archive_entry_set_perm(entry, 0o644)
    unsafe archive_entry_set_size(entry, size)
    // The time of zip is that of the place where it is written, unless there is none.
    if format != .zip { unsafe archive_entry_set_mtime(entry, 0, 0) }
    try check(unsafe archive_write_header(handle, entry))
    missing = size
  }

  /// Appends bytes to the member that was begun.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    guard !bytes.isEmpty else { return }
    // libarchive drops what is beyond the size, and says nothing.
    precondition(Int64(bytes.count) <= missing, "the member is longer than was said")
    let count = unsafe bytes.withUnsafeBytes { bytes in
      unsafe archive_write_data(handle, bytes.baseAddress, bytes.count)
    }
    guard count == bytes.count else { throw failure() }
    missing -= Int64(bytes.count)
  }

  /// Appends a whole member.
  public mutating func append(_ name: String, _ bytes: [UInt8]) throws {
    try begin(name, size: Int64(bytes.count))
    try append(bytes[...])
  }

  /// Writes the end of the archive.
  public consuming func finish() throws {
    precondition(missing == 0, "the last member is not whole")
    try check(unsafe archive_write_close(handle))
  }

  private borrowing func check(_ code: Int32) throws {
    guard code == ARCHIVE_OK else { throw failure() }
  }

  private borrowing func failure() -> any Error {
    unsafe output.failure ?? ArchiveError(of: handle)
  }
}

/// Where libarchive puts the bytes of an archive.
final class ArchiveOutput {
  private let write: ([UInt8]) throws -> Void

  /// Whether what comes is dropped.
  var isClosed = false

  /// Why the last bytes could not be written.
  private(set) var failure: (any Error)?

  init(writing write: @escaping ([UInt8]) throws -> Void) {
    self.write = write
  }

  /// Writes bytes, unless writing has failed before.
  ///
  /// - Returns: Whether they are written.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if isClosed { return true }
    guard failure == nil else { return false }
    do {
      unsafe try write(Array(bytes))
      return true
    } catch {
      failure = error
      return false
    }
  }
}
