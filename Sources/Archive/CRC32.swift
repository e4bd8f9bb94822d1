internal import CDeflate

/// The checksum of gzip (RFC 1952, section 8).
struct CRC32 {
  /// The checksum of all bytes so far.
  private(set) var value: UInt32 = 0

  /// Adds bytes.
  mutating func append(_ bytes: ArraySlice<UInt8>) {
    // Without an address, libdeflate returns the checksum of no bytes.
    if bytes.isEmpty { return }
    value = unsafe bytes.withUnsafeBytes { bytes in
      unsafe libdeflate_crc32(value, bytes.baseAddress, bytes.count)
    }
  }
}
