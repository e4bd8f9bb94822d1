internal import CArchive

/// A writer of a gzip member (RFC 1952).
///
/// Concatenated members form a gzip file, in which each can be read independently. The output is
/// reproducible: the same bytes give the same member, however they are divided.
@safe
public struct GzipMemberWriter: ~Copyable {
  /// The size up to which a member is compressed at once, in memory; 1 MiB.
  public static let largestInMemory = 1 << 20

  private let compressor: DeflateCompressor
  private let write: ([UInt8]) throws -> Void
  /// What has been appended, until it is too large.
  private var bytes: [UInt8] = []
  /// What compresses larger data as it arrives.
  private var handle: WriteHandle?

  /// Starts a member.
  ///
  /// - Parameters:
  ///   - compressor: What compresses the data. Several writers can use it, one after the other.
  ///   - size: The number of bytes that will be appended, if it is known.
  ///   - write: Receives the next bytes of the member.
  public init(
    _ compressor: DeflateCompressor, size: Int = 0,
    writing write: @escaping ([UInt8]) throws -> Void
  ) {
    (self.compressor, self.write) = (compressor, write)
    // Otherwise the few bytes after a body could double the memory that it takes.
    if size <= Self.largestInMemory { bytes.reserveCapacity(size) }
  }

  /// Appends bytes.
  ///
  /// - Throws: ``ArchiveError``, or any error of the closure that receives the member.
  public mutating func append(_ new: ArraySlice<UInt8>) throws {
    guard !new.isEmpty else { return }
    if handle == nil {
      if bytes.count + new.count <= Self.largestInMemory { return bytes += new }
      let handle = try WriteHandle(ArchiveOutput(writing: write))
      try handle.openGzip(level: compressor.level)
      self.handle = consume handle
      if !bytes.isEmpty { try self.handle?.write(bytes[...]) }
      bytes = []
    }
    try handle?.write(new)
  }

  /// Writes the end of the member.
  ///
  /// - Throws: ``ArchiveError``, or any error of the closure that receives the member.
  public consuming func finish() throws {
    switch consume handle {
    case .some(let handle): try handle.close()
    case .none: try write(compressor.member(bytes))
    }
  }
}
