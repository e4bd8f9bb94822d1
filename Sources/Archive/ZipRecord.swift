/// A member of a zip archive, as its records describe it (APPNOTE 6.3.10).
struct ZipRecord {
  /// The name, in ASCII.
  var name: [UInt8]
  var isDeflated = false
  var checksum: UInt32 = 0
  /// The size in the archive, in bytes.
  var compressedSize: Int64 = 0
  /// The size of the contents, in bytes.
  var size: Int64 = 0
  /// The offset of the header in the archive.
  var offset: Int64 = 0
  /// Whether checksum and compressed size were not known yet when the header was written.
  var isStreamed = false

  /// The value that refers to the extra field for the larger number.
  private static let none = UInt32.max
  /// The number of the extra field for large numbers (§4.5.3).
  private static let largeField = 1 as UInt16
  /// A regular file of Unix with the permissions 0644.
  private static let attributes: UInt32 = 0o100644 << 16

  /// Whether the sizes need 64 bits. Data that cannot be compressed becomes a little longer, so this begins earlier.
  private var isLarge: Bool { size >= Int64(Self.none) - 1 << 24 }

  /// The oldest version of the specification that a reader must know, in tenths: 2.0 for deflate, 4.5 for large sizes.
  private var versionNeeded: UInt16 { isLarge || offset >= Int64(Self.none) ? 45 : 20 }

  /// The header before the data (§4.3.7).
  var header: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: 0x0403_4B50 as UInt32)
    bytes.append(number: versionNeeded)
    appendCommon(to: &bytes)
    bytes.append(number: isLarge ? Self.none : UInt32(compressedSize))
    bytes.append(number: isLarge ? Self.none : UInt32(size))
    bytes.append(number: UInt16(name.count))
    bytes.append(number: isLarge ? 20 : 0 as UInt16)
    bytes += name
    if isLarge {
      bytes.append(number: Self.largeField)
      bytes.append(number: 16 as UInt16)
      bytes.append(number: size)
      bytes.append(number: compressedSize)
    }
    return bytes
  }

  /// The descriptor after the data of a streamed member (§4.3.9).
  var descriptor: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: 0x0807_4B50 as UInt32)
    bytes.append(number: checksum)
    if isLarge {
      bytes.append(number: compressedSize)
      bytes.append(number: size)
    } else {
      bytes.append(number: UInt32(compressedSize))
      bytes.append(number: UInt32(size))
    }
    return bytes
  }

  /// Appends the record of the directory (§4.3.12).
  func appendDirectoryRecord(to bytes: inout [UInt8]) {
    let isFar = offset >= Int64(Self.none)
    let extra = (isLarge ? 16 : 0) + (isFar ? 8 : 0)
    bytes.append(number: 0x0201_4B50 as UInt32)
    // By Unix, for the attributes.
    bytes.append(number: 3 << 8 | versionNeeded)
    bytes.append(number: versionNeeded)
    appendCommon(to: &bytes)
    bytes.append(number: isLarge ? Self.none : UInt32(compressedSize))
    bytes.append(number: isLarge ? Self.none : UInt32(size))
    bytes.append(number: UInt16(name.count))
    bytes.append(number: UInt16(extra == 0 ? 0 : 4 + extra))
    // No comment, the first disk, binary data.
    bytes += [0, 0, 0, 0, 0, 0]
    bytes.append(number: Self.attributes)
    bytes.append(number: isFar ? Self.none : UInt32(offset))
    bytes += name
    if extra == 0 { return }
    bytes.append(number: Self.largeField)
    bytes.append(number: UInt16(extra))
    if isLarge {
      bytes.append(number: size)
      bytes.append(number: compressedSize)
    }
    if isFar { bytes.append(number: offset) }
  }

  /// Appends the fields from the flags to the checksum, which both headers have.
  private func appendCommon(to bytes: inout [UInt8]) {
    bytes.append(number: isStreamed ? 8 : 0 as UInt16)
    bytes.append(number: isDeflated ? 8 : 0 as UInt16)
    // Zip stores local time, which would depend on the time zone, so each member has the first time there is.
    bytes.append(number: 0 as UInt16)
    bytes.append(number: 0x21 as UInt16)
    bytes.append(number: checksum)
  }

  /// Returns the records that end an archive (§4.3.14 to 16).
  ///
  /// - Parameters:
  ///   - count: The number of members.
  ///   - offset: The offset of the directory.
  ///   - size: The size of the directory, in bytes.
  static func end(count: Int64, directoryAt offset: Int64, size: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    let isLarge = count >= Int64(UInt16.max) || max(offset, size) >= Int64(none)
    if isLarge {
      bytes.append(number: 0x0606_4B50 as UInt32)
      // The size of the rest of this record.
      bytes.append(number: 44 as Int64)
      bytes.append(number: 3 << 8 | 45 as UInt16)
      bytes.append(number: 45 as UInt16)
      bytes.append(number: 0 as Int64)
      bytes.append(number: count)
      bytes.append(number: count)
      bytes.append(number: size)
      bytes.append(number: offset)
      bytes.append(number: 0x0706_4B50 as UInt32)
      bytes.append(number: 0 as UInt32)
      bytes.append(number: offset + size)
      bytes.append(number: 1 as UInt32)
    }
    bytes.append(number: 0x0605_4B50 as UInt32)
    bytes.append(number: 0 as UInt32)
    for _ in 0..<2 { bytes.append(number: isLarge ? UInt16.max : UInt16(count)) }
    bytes.append(number: isLarge ? none : UInt32(size))
    bytes.append(number: isLarge ? none : UInt32(offset))
    bytes.append(number: 0 as UInt16)
    return bytes
  }
}

extension [UInt8] {
  /// Appends a number, with its lowest byte first.
  fileprivate mutating func append(number: some FixedWidthInteger) {
    for index in 0..<number.bitWidth / 8 {
      append(UInt8(truncatingIfNeeded: number >> (index * 8)))
    }
  }
}

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
