internal import CArchive

/// A writer of a gzip member (RFC 1952).
///
/// Concatenated members form a gzip file, in which each can be read independently. The output is
/// reproducible: the same bytes give the same member.
@safe
public struct GzipMemberWriter: ~Copyable {
  private let handle: WriteHandle

  /// Starts a member.
  ///
  /// - Parameters:
  ///   - level: The compression level, 1 to 9.
  ///   - write: Receives the next bytes of the member.
  /// - Throws: ``ArchiveError``, or any error of `write`.
  public init(level: Int = 6, writing write: @escaping ([UInt8]) throws -> Void) throws {
    let handle = try WriteHandle(ArchiveOutput(writing: write))
    try handle.openGzip(level: level)
    self.handle = handle
  }

  /// Appends bytes.
  public mutating func append(_ bytes: ArraySlice<UInt8>) throws {
    guard !bytes.isEmpty else { return }
    try handle.write(bytes)
  }

  /// Writes the end of the member.
  public consuming func finish() throws {
    try handle.check(unsafe archive_write_close(handle.pointer))
  }
}
