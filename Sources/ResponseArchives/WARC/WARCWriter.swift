import Archive
import Bytes
import Files
import ResponseStorage

/// Writes WARC records, either plain or each as a separate gzip member.
final class WARCWriter {
  private let compressor: DeflateCompressor?
  private let write: ([UInt8]) throws -> Void

  /// The size of the file so far, in bytes.
  private(set) var offset: Int64 = 0

  /// - Parameters:
  ///   - compressor: What compresses the records; `nil` for no compression.
  ///   - write: Receives the next bytes of the file.
  init(_ compressor: DeflateCompressor?, writing write: @escaping ([UInt8]) throws -> Void) {
    (self.compressor, self.write) = (compressor, write)
  }

  /// Writes records that are finished, with their compression.
  ///
  /// - Returns: The offset of the first in the file.
  func append(finished records: [UInt8]) throws -> Int64 {
    let start = offset
    try put(records)
    return start
  }

  /// Writes a record whose block is in memory.
  ///
  /// - Returns: The range of the record in the file.
  @discardableResult
  func append(_ header: WARCHeader, _ block: [UInt8]) throws -> Range<Int64> {
    var digest = Digest()
    digest.update(block[...])
    return try append(header, blockDigest: digest, blockLength: ByteCount(block.count)) {
      try $0(block[...])
    }
  }

  /// Writes a record with a streamed block.
  ///
  /// - Parameters:
  ///   - header: The header, without the id, digest and length of the block.
  ///   - block: Passes on the pieces of the block.
  /// - Returns: The range of the record in the file.
  @discardableResult
  func append(
    _ header: WARCHeader, blockDigest: Digest, blockLength: ByteCount,
    _ block: ((ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws -> Range<Int64> {
    let start = offset
    let header = header.completed(blockDigest, blockLength).bytes
    // A separate gzip member for each record lets an index address it by its offset.
    if let compressor {
      let size = ByteCount(header.count + Self.end.count) + blockLength
      var member = GzipMemberWriter(compressor, size: Int(clamping: size.bytes)) { [self] in
        try put($0)
      }
      try member.append(header[...])
      try block { try member.append($0) }
      try member.append(Self.end[...])
      try member.finish()
    } else {
      try put(header)
      try block { try put(Array($0)) }
      try put(Self.end)
    }
    return start..<offset
  }

  private static let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

  private func put(_ bytes: [UInt8]) throws {
    offset += Int64(bytes.count)
    try write(bytes)
  }
}

extension WARCHeader {
  /// Returns the header with the digest and length of the block, and the id derived from all fields.
  func completed(_ blockDigest: Digest, _ blockLength: ByteCount) -> WARCHeader {
    var header = self
    header.fields +=
      WARCHeader([
        ("WARC-Block-Digest", Array("sha256:\(blockDigest.hexadecimal)".utf8)),
        ("Content-Length", Array("\(blockLength)".utf8)),
      ]).fields
    // Most writers put the id second.
    header.fields.insert(
      .init(name: "WARC-Record-ID", value: header.derivedID), at: min(1, header.fields.count))
    return header
  }
}
