internal import CDeflate

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
