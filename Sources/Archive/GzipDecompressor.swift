internal import CArchive
internal import CDeflate

/// Decodes gzip members (RFC 1952) that fit into memory, and verifies their checksums and lengths.
///
/// libdeflate decodes data that is in memory more than twice as fast as zlib, which libarchive uses.
@safe
final class GzipDecompressor {
  /// The result of decoding data that begins with a member.
  enum Outcome {
    /// The member is this many bytes long, and decoded.
    case decoded(Int)
    /// The member is incomplete or damaged; only more data can show which.
    case incomplete
    /// The member does not fit into memory.
    case tooLong
  }

  /// The largest member that is decoded in memory, in bytes, coded and decoded. `GzipMemberWriter` writes members of up
  /// to 1 MiB at once.
  static let largestMember = 1 << 20 + 1 << 16

  private let pointer: OpaquePointer
  // The system provides the pages of an allocation as they are written, so small members take little memory.
  private let memory: UnsafeMutableBufferPointer<UInt8>

  /// The decoded bytes that were not copied yet, as a range of `memory`.
  private var unread = 0..<0

  /// Creates a decompressor; `nil` if there is no memory for it.
  init?() {
    guard let pointer = unsafe libdeflate_alloc_decompressor() else { return nil }
    unsafe self.pointer = pointer
    unsafe memory = .allocate(capacity: Self.largestMember)
  }

  deinit {
    unsafe libdeflate_free_decompressor(pointer)
    unsafe memory.deallocate()
  }

  /// Decodes the member at the start of `bytes`.
  func decode(_ bytes: ArraySlice<UInt8>) -> Outcome {
    var (used, made) = (0, 0)
    let result = unsafe bytes.withUnsafeBytes { bytes in
      unsafe libdeflate_gzip_decompress_ex(
        pointer, bytes.baseAddress, bytes.count, memory.baseAddress, memory.count, &used, &made)
    }
    unread = 0..<0
    switch result {
    case LIBDEFLATE_SUCCESS:
      unread = 0..<made
      return .decoded(used)
    case LIBDEFLATE_INSUFFICIENT_SPACE: return .tooLong
    default: return .incomplete
    }
  }

  /// Copies the next decoded bytes into the start of `buffer`.
  ///
  /// - Returns: The number of bytes; 0 at the end of the member.
  func read(into buffer: inout [UInt8]) -> Int {
    let range = unread.prefix(buffer.count)
    unread = unread.dropFirst(range.count)
    if range.isEmpty { return 0 }
    unsafe buffer.withUnsafeMutableBufferPointer { buffer in
      _ = unsafe buffer.update(fromContentsOf: memory[range])
    }
    return range.count
  }
}

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
