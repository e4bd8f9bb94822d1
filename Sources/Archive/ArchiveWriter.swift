internal import CArchive

/// A sequential writer of an archive's members.
///
/// The output is reproducible: the same members give the same bytes, as there are no times, no owners, and
/// only one mode. Call ``finish()`` after the last member; an archive that is not finished has no
/// end.
@safe
public struct ArchiveWriter: ~Copyable {
  /// What writes a tar archive.
  private let handle: WriteHandle?
  /// What writes a zip archive.
  private let zip: ZipWriter?
  private var missing: Int64 = 0

  /// Starts an archive.
  ///
  /// - Parameters:
  ///   - level: The compression level, one of the levels of the format; `nil` for 3 with zstd, and 6
  ///     with gzip and zip.
  ///   - threads: The number of threads with which zstd compresses.
  ///   - write: Receives the next bytes of the archive.
  /// - Throws: ``ArchiveError``, or any error of `write`.
  public init(
    _ format: ArchiveFormat, level: Int? = nil, threads: Int = 1,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    // These are the default levels of zstd and of zlib.
    let level = level ?? (format == .tarZstd ? 3 : 6)
    guard format != .zip else {
      zip = try ZipWriter(level: level, writing: write)
      handle = nil
      return
    }
    let handle = try WriteHandle(ArchiveOutput(writing: write))
    try handle.open(format, level: level, threads: threads)
    // Members differ only in their names and sizes.
    unsafe archive_entry_set_perm(handle.member, 0o644)
    unsafe archive_entry_set_mtime(handle.member, 0, 0)
    zip = nil
    self.handle = consume handle
  }

  /// Starts a member, which is a regular file.
  ///
  /// - Parameters:
  ///   - name: The name, in ASCII.
  ///   - size: The exact number of bytes that will be appended.
  ///   - isCompressed: Whether zip compresses it.
  /// - Throws: ``ArchiveError``, also if the last member is incomplete, or any error of the writer's
  ///   closure.
  public mutating func begin(_ name: String, size: Int64, isCompressed: Bool = true) throws {
    try requireWholeMember()
    // A WACZ file needs both: viewers read its WARC at byte offsets, so that must be stored, while
    // the other members may be compressed.
    try zip?.begin(name, size: size, isCompressed: isCompressed)
    try handle?.begin(name, size: size)
    missing = size
  }

  /// Appends bytes to the current member.
  ///
  /// - Throws: ``ArchiveError``, also if they exceed the size of the member, or any error of the writer's
  ///   closure.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    guard !bytes.isEmpty else { return }
    // libarchive would silently drop bytes beyond the size.
    guard Int64(bytes.count) <= missing else {
      throw ArchiveError(
        "a member is \(Int64(bytes.count) - missing) bytes longer than declared")
    }
    missing -= Int64(bytes.count)
    try handle?.write(bytes)
    try zip?.append(bytes, isLast: missing == 0)
  }

  /// Appends a complete member.
  public mutating func append(_ name: String, _ bytes: [UInt8]) throws {
    try begin(name, size: Int64(bytes.count))
    try append(bytes[...])
  }

  /// Appends a complete member of a zip archive.
  public mutating func append(_ name: String, _ contents: ZipMember) throws {
    try requireWholeMember()
    guard let zip else { throw ArchiveError("only zip compresses members individually") }
    try zip.append(name, contents)
  }

  /// Writes the end of the archive.
  ///
  /// - Throws: ``ArchiveError``, also if the last member is incomplete, or any error of the writer's
  ///   closure.
  public consuming func finish() throws {
    try requireWholeMember()
    try zip?.finish()
    // Freeing the handle would write the end as well, but `deinit` could not report that it failed.
    try handle?.close()
  }

  private borrowing func requireWholeMember() throws {
    // libarchive would silently pad the member.
    guard missing == 0 else {
      throw ArchiveError("a member is \(missing) bytes shorter than declared")
    }
  }
}
