internal import CDeflate

/// Compresses gzip members (RFC 1952) of a file, one after the other.
///
/// libdeflate compresses data that is in memory twice as fast as zlib, which libarchive uses.
@safe
public final class GzipCompressor {
  /// The compression level, 1 to 9.
  let level: Int
  private let pointer: OpaquePointer

  /// Creates a compressor for a level, 1 to 9. It takes up to 1 MiB of memory.
  public init(level: Int = 6) throws(ArchiveError) {
    guard let pointer = unsafe libdeflate_alloc_compressor(Int32(level)) else { throw .outOfMemory }
    self.level = level
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe libdeflate_free_compressor(pointer)
  }

  /// Returns a member with these bytes. The same bytes always give the same member.
  func member(_ bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
    let limit = unsafe libdeflate_gzip_compress_bound(pointer, bytes.count)
    let member = unsafe [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
      unsafe bytes.withUnsafeBytes { bytes in
        count = unsafe libdeflate_gzip_compress(
          pointer, bytes.baseAddress, bytes.count, memory.baseAddress, limit)
      }
    }
    // The limit is enough for every input of this size.
    guard !member.isEmpty else { throw ArchiveError("cannot compress \(bytes.count) bytes") }
    return member
  }
}
