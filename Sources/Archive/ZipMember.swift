/// The contents of a member of a zip archive, compressed in memory. It can be made on any thread.
public struct ZipMember: Sendable {
  /// The bytes in the archive.
  let data: [UInt8]
  /// The checksum of the contents.
  let checksum: UInt32
  /// The size of the contents, in bytes.
  let size: Int
  /// Whether `data` is compressed; otherwise compression would not make it shorter.
  let isDeflated: Bool

  /// Compresses the contents of a member. The same bytes always give the same member.
  public init(_ bytes: [UInt8], by compressor: DeflateCompressor) {
    var checksum = CRC32()
    checksum.append(bytes[...])
    let compressed = compressor.compressed(bytes)
    data = compressed ?? bytes
    size = bytes.count
    isDeflated = compressed != nil
    self.checksum = checksum.value
  }

  /// Wraps the contents of a member that is not compressed.
  init(storing bytes: [UInt8]) {
    var checksum = CRC32()
    checksum.append(bytes[...])
    (data, size, isDeflated) = (bytes, bytes.count, false)
    self.checksum = checksum.value
  }
}
