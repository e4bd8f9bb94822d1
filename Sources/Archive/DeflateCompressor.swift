internal import CDeflate

/// Compresses data that is in memory, as gzip members (RFC 1952) or as members of a zip archive.
///
/// libdeflate does that twice as fast as zlib, which libarchive uses.
@safe
public final class DeflateCompressor {
  /// The compression level, 1 to 9.
  let level: Int
  private let pointer: OpaquePointer

  /// Creates a compressor for a level, 1 to 9. It takes up to 1 MiB of memory. Only one thread at a time can use it.
  public init(level: Int = 6) throws(ArchiveError) {
    guard let pointer = unsafe libdeflate_alloc_compressor(Int32(level)) else { throw .outOfMemory }
    self.level = level
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe libdeflate_free_compressor(pointer)
  }

  /// Returns a gzip member with these bytes. The same bytes always give the same member.
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

  /// Returns compressed data without a header (RFC 1951); `nil` if it is not shorter than `bytes`.
  func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count > 1, seemsCompressible(bytes) else { return nil }
    let limit = bytes.count - 1
    let result = unsafe [UInt8](unsafeUninitializedCapacity: limit) { memory, count in
      unsafe bytes.withUnsafeBytes { bytes in
        count = unsafe libdeflate_deflate_compress(
          pointer, bytes.baseAddress, bytes.count, memory.baseAddress, limit)
      }
    }
    return result.isEmpty ? nil : result
  }

  /// Whether compression may shorten data: judged by samples if there is much of it.
  ///
  /// Images and fonts are compressed already, and to find that out by compressing all of their bytes takes most of the
  /// time of an export.
  func seemsCompressible(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > Self.sampleSize * 8 else { return true }
    let middle = bytes.count / 2
    let sample =
      bytes.prefix(Self.sampleSize) + bytes[middle..<middle + Self.sampleSize]
      + bytes.suffix(Self.sampleSize)
    return unsafe [UInt8](unsafeUninitializedCapacity: sample.count) { memory, count in
      unsafe sample.withUnsafeBytes { bytes in
        count = unsafe libdeflate_deflate_compress(
          pointer, bytes.baseAddress, bytes.count, memory.baseAddress,
          bytes.count / 100 * Self.leastWorthwhile)
      }
    }.isEmpty == false
  }

  /// The size of each of three samples, in bytes.
  private static let sampleSize = 4_096
  /// The percentage of its size to which a sample must shrink.
  private static let leastWorthwhile = 97
}

/// Data in the content coding `deflate` (RFC 9110 §8.4.1.2), which is decoded in memory: hardly any server uses it.
public enum DeflatedBody {
  /// The largest coded and the largest decoded data, in bytes.
  public static let largest = (coded: 16 << 20, decoded: 256 << 20)

  /// How the data is packed.
  public enum Form: Sendable {
    /// The zlib format (RFC 1950), as the standard says.
    case zlib
    /// The bare format (RFC 1951), as some servers send it.
    case bare
  }

  /// Whether data begins with a header of the zlib format.
  public static func isZlib(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, let second = bytes.dropFirst().first else { return false }
    return first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
  }

  /// Decodes data.
  ///
  /// - Parameter limit: The most bytes to decode.
  /// - Returns: The decoded data; `nil` if the data is not in this form, or something follows it.
  /// - Throws: ``ContentDecodingError`` if it is too large.
  public static func decode(
    _ bytes: ArraySlice<UInt8>, _ form: Form, limit: Int64
  ) throws(ContentDecodingError) -> [UInt8]? {
    guard let pointer = unsafe libdeflate_alloc_decompressor() else { throw .outOfMemory }
    defer { unsafe libdeflate_free_decompressor(pointer) }
    let most = Int(min(limit, Int64(largest.decoded)))
    var room = min(most, max(1 << 16, bytes.count * 8))
    while true {
      var (used, result) = (0, LIBDEFLATE_BAD_DATA)
      let decoded = unsafe [UInt8](unsafeUninitializedCapacity: room) { memory, made in
        unsafe bytes.withUnsafeBytes { bytes in
          result =
            switch form {
            case .zlib:
              unsafe libdeflate_zlib_decompress_ex(
                pointer, bytes.baseAddress, bytes.count, memory.baseAddress, room, &used, &made)
            case .bare:
              unsafe libdeflate_deflate_decompress_ex(
                pointer, bytes.baseAddress, bytes.count, memory.baseAddress, room, &used, &made)
            }
          if result != LIBDEFLATE_SUCCESS { made = 0 }
        }
      }
      switch result {
      case LIBDEFLATE_SUCCESS: return used == bytes.count ? decoded : nil
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        guard room < most else { throw .tooLarge(Int64(most)) }
        room = min(most, room * 4)
      default: return nil
      }
    }
  }
}
