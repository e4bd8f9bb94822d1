internal import CArchive

/// An archive that is being written, member by member.
///
/// The same members give the same bytes, whenever and by whomever they are written: no times, no
/// owners, one mode. Call ``finish()`` when every member is in; an archive that is not finished has no
/// end.
@safe
public struct ArchiveWriter: ~Copyable {
  private let handle: WriteHandle
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
    let handle = try WriteHandle(ArchiveOutput(writing: write))
    try handle.open(format, level: level ?? (format == .tarZstd ? 3 : 6), threads: threads)
    // Members differ in their names and sizes alone.
    unsafe archive_entry_set_perm(handle.member, 0o644)
    // The time of zip is that of the place where it is written, unless there is none.
    if format != .zip { unsafe archive_entry_set_mtime(handle.member, 0, 0) }
    self.handle = handle
    self.format = format
  }

  /// Begins a member, a regular file.
  ///
  /// - Parameters:
  ///   - name: Its name, in ASCII.
  ///   - size: The number of bytes that will be appended, exactly.
  ///   - isCompressed: Whether zip compresses it.
  /// - Throws: ``ArchiveError``, also if the last member is not whole, or what the closure of the writer
  ///   throws.
  public mutating func begin(_ name: String, size: Int64, isCompressed: Bool = true) throws {
    try requireWholeMember()
    if format == .zip {
      let code =
        isCompressed
        ? unsafe archive_write_zip_set_compression_deflate(handle.pointer)
        : unsafe archive_write_zip_set_compression_store(handle.pointer)
      try handle.check(code)
    }
    unsafe name.withCString { unsafe archive_entry_set_pathname(handle.member, $0) }
    unsafe archive_entry_set_size(handle.member, size)
    try handle.check(unsafe archive_write_header(handle.pointer, handle.member))
    missing = size
  }

  /// Appends bytes to the member that was begun.
  ///
  /// - Throws: ``ArchiveError``, also if they are more than was said, or what the closure of the writer
  ///   throws.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    guard !bytes.isEmpty else { return }
    // libarchive drops what is beyond the size, and says nothing.
    guard Int64(bytes.count) <= missing else {
      throw ArchiveError(
        "a member is longer than was said, by \(Int64(bytes.count) - missing) bytes")
    }
    try handle.write(bytes)
    missing -= Int64(bytes.count)
  }

  /// Appends a whole member.
  public mutating func append(_ name: String, _ bytes: [UInt8]) throws {
    try begin(name, size: Int64(bytes.count))
    try append(bytes[...])
  }

  /// Writes the end of the archive.
  ///
  /// - Throws: ``ArchiveError``, also if the last member is not whole, or what the closure of the writer
  ///   throws.
  public consuming func finish() throws {
    try requireWholeMember()
    try handle.check(unsafe archive_write_close(handle.pointer))
  }

  private borrowing func requireWholeMember() throws {
    // libarchive would fill a member up, and say nothing.
    guard missing == 0 else {
      throw ArchiveError("a member is shorter than was said, by \(missing) bytes")
    }
  }
}
