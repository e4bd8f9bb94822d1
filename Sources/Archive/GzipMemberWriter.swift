internal import CArchive

/// One member of gzip (RFC 1952) that is being written.
///
/// Members one after the other are a gzip file, in which each can be read by itself. The same bytes give
/// the same member, whenever it is written.
@safe
public struct GzipMemberWriter: ~Copyable {
  private let handle: WriteHandle

  /// Begins a member.
  ///
  /// - Parameters:
  ///   - level: How hard to compress, 1 to 9.
  ///   - write: Takes the next bytes of the member.
  /// - Throws: ``ArchiveError``, or what `write` throws.
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
