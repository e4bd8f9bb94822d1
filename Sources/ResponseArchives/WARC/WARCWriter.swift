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

/// Copies of the heads of records, in an unnamed file.
///
/// In a WARC file, a head can only be decoded together with what follows it. So a pass that wants no bodies reads the
/// copies, instead of decoding the whole file again.
final class WARCHeadCopies {
  private var file: TemporaryFile?
  private var unwritten: [UInt8] = []
  /// The number of bytes that were appended.
  private var end: Int64 = 0

  /// The number of bytes that are written at once.
  private static let piece = 1 << 16

  /// Starts without copies.
  ///
  /// - Parameter folder: The folder for temporary files.
  init(in folder: String) {
    file = try? TemporaryFile(in: folder)
  }

  /// Appends a head, or more of the last one.
  ///
  /// - Returns: The offset of the bytes in the file.
  func append(_ bytes: some Sequence<UInt8>) -> Int64 {
    let start = end + Int64(unwritten.count)
    if file == nil { return start }
    unwritten += bytes
    if unwritten.count >= Self.piece { write() }
    return start
  }

  private func write() {
    // Without room for the copies, the heads are read from the WARC file.
    do { try file?.append(unwritten) } catch { file = nil }
    end += Int64(unwritten.count)
    unwritten.removeAll(keepingCapacity: true)
  }

  /// Returns the copies; `nil` if they could not be written.
  func finish() -> FileBytes? {
    write()
    guard let file = file.take() else { return nil }
    let copies = Written(file)
    return FileBytes(size: { [end] in ByteCount(end) }) { try copies.file.read(into: &$0, at: $1) }
  }

  private final class Written: Sendable {
    let file: TemporaryFile

    init(_ file: consuming TemporaryFile) { self.file = file }
  }
}

/// An entry that is sent from one thread to another.
struct SentEntry: Sendable {
  /// The id of the entry.
  let id: Int64
  private let columns: [RawResponse.Column]
  private let parts: [(name: RawResponse.Part.Name, content: Content)]
  private let hasBodyFile: Bool

  private enum Content: Sendable {
    case missing
    case bytes([UInt8])
    /// The receiving thread reads it when it is wanted.
    case later
  }

  /// Takes from a response what can be sent.
  init(_ response: RawResponse) {
    (id, columns, hasBodyFile) = (response.id, response.columns, response.hasBodyFile)
    parts = response.parts.map { part in
      (part.name, part.content.map { $0.bytes.map { .bytes($0) } ?? .later } ?? .missing)
    }
  }

  /// The length of its texts and of what was read of its parts, in bytes.
  var byteCount: ByteCount {
    let texts = columns.reduce(0) { sum, column in
      switch column.value {
      case .text(let text): sum + text.bytes.count
      case .blob(let blob): sum + blob.count
      case .null, .integer, .real: sum
      }
    }
    return parts.reduce(ByteCount(texts)) { sum, part in
      if case .bytes(let bytes) = part.content { sum + ByteCount(bytes.count) } else { sum }
    }
  }

  /// Returns the response.
  ///
  /// - Parameter body: Returns the body, if it was not sent.
  func response(withBody body: () -> Body) -> RawResponse {
    var response = RawResponse(id: id)
    response.columns = columns
    response.hasBodyFile = hasBodyFile
    response.parts = parts.map { name, content in
      switch content {
      case .missing: .init(name, nil)
      case .bytes(let bytes): .init(name, Body(bytes))
      case .later: .init(name, body())
      }
    }
    return response
  }
}
