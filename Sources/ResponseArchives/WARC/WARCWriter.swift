import Archive
import Bytes
import Files
import ResponseStorage

/// Writes WARC records, each as a member of gzip of its own or plain.
final class WARCWriter {
  private let level: Int?
  private let write: ([UInt8]) throws -> Void

  /// The number of bytes of the file so far.
  private(set) var offset: Int64 = 0

  /// - Parameters:
  ///   - level: How hard to compress, 1 to 9; `nil` for not at all.
  ///   - write: Takes the next bytes of the file.
  init(level: Int?, writing write: @escaping ([UInt8]) throws -> Void) {
    self.level = level
    self.write = write
  }

  /// Writes a record whose block is in memory.
  ///
  /// - Returns: Where it is in the file.
  @discardableResult
  func append(_ header: WARCHeader, _ block: [UInt8]) throws -> Range<Int64> {
    var digest = Digest()
    digest.update(block[...])
    return try append(header, blockDigest: digest, blockLength: ByteCount(block.count)) {
      try $0(block[...])
    }
  }

  /// Writes a record whose block comes piece by piece.
  ///
  /// - Parameters:
  ///   - header: The header, without the id, and without what tells of the block.
  ///   - block: Passes the pieces on.
  /// - Returns: Where it is in the file.
  @discardableResult
  func append(
    _ header: WARCHeader, blockDigest: Digest, blockLength: ByteCount,
    _ block: ((ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws -> Range<Int64> {
    let start = offset
    let header = header.completed(blockDigest, blockLength).bytes
    if let level {
      var member = try GzipMemberWriter(level: level) { [self] in try put($0) }
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
  /// The header with what tells of the block, and the id that all of that gives.
  func completed(_ blockDigest: Digest, _ blockLength: ByteCount) -> WARCHeader {
    var header = self
    header.fields +=
      WARCHeader([
        ("WARC-Block-Digest", Array("sha256:\(blockDigest.hexadecimal)".utf8)),
        ("Content-Length", Array("\(blockLength)".utf8)),
      ]).fields
    // Second, as most writers have it.
    header.fields.insert(
      .init(name: "WARC-Record-ID", value: header.derivedID), at: min(1, header.fields.count))
    return header
  }
}
