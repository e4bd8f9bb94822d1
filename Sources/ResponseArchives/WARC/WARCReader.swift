import Bytes
import ResponseStorage

/// Reads the records of a WARC file, one after the other.
///
/// It tolerates common deviations: lines that end without a carriage return, and too few or too many empty lines
/// between records.
final class WARCReader {
  private let input: WARCInput
  private var left: Int64 = 0
  private var digest: WARCDigest.Making?

  /// The place of the record.
  private(set) var place = WARCInput.Place()

  /// The header of the record.
  private(set) var header = WARCHeader()

  /// The size of the block, in bytes.
  private(set) var blockLength: ByteCount = 0

  /// The header and the lines of the block that were read, while the file is indexed.
  private(set) var head: [UInt8] = []

  /// Whether the last block has the digest that its header names, or none is named; known after ``finishBlock()``.
  private(set) var isBlockDigestRight = true

  /// The number of bytes of the block that were not read.
  var unreadLength: ByteCount { ByteCount(left) }

  /// Whether the file is indexed: digests of blocks are verified, and heads are copied. Once is enough.
  private let isIndexing: Bool

  init(_ input: WARCInput, indexing isIndexing: Bool) {
    self.input = input
    self.isIndexing = isIndexing
  }

  /// Moves to the next record, skipping the rest of the current one.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: ``WARCError``, or any error from reading.
  func next() throws -> Bool {
    try finishBlock()
    // Real files have one, two or three empty lines between records, one even `\r\r\n`.
    while let byte = try input.peek(), byte == 0x0D || byte == 0x0A { try input.skip(1) }
    guard try !input.isAtEnd() else { return false }
    place = input.place
    try readHeader()
    blockLength = try header.blockLength()
    left = blockLength.bytes
    (digest, isBlockDigestRight) = (nil, true)
    if isIndexing, let label = header["warc-block-digest"] {
      do { digest = try WARCDigest(label).map { .init(of: $0) } } catch {
        isBlockDigestRight = false
      }
    }
    return true
  }

  private func readHeader() throws {
    var room = WARCHeader.largest
    head.removeAll(keepingCapacity: true)
    func line() throws -> [UInt8] {
      var line = try input.line(upTo: room)
      room -= line.count
      if isIndexing { head += line }
      guard line.last == 0x0A else {
        throw WARCError(
          room > 0 ? "it ends in the middle of a record's header" : "a record's header is too long")
      }
      line.removeLast(line.dropLast().last == 0x0D ? 2 : 1)
      return line
    }
    let version = ByteString(try line())
    // Only these two versions were ever standards. Guessing at the rest of another one could take a
    // body for a header.
    guard version == "WARC/1.1" || version == "WARC/1.0" else {
      throw WARCError("a record does not start with WARC/1.0 or WARC/1.1")
    }
    var lines: [[UInt8]] = []
    while case let next = try line(), !next.isEmpty { lines.append(next) }
    header = try WARCHeader(lines: lines)
  }

  /// Reads up to `count` bytes of the block.
  ///
  /// - Returns: The bytes; empty at the end of the block.
  func read(upTo count: Int64 = .max) throws -> ArraySlice<UInt8> {
    guard left > 0 else { return [] }
    let bytes = try input.read(upTo: min(left, count))
    // A crawler that was killed leaves such a file. The records before the end are intact, and
    // `--salvage` imports them.
    guard !bytes.isEmpty else { throw WARCError("it ends in the middle of a record") }
    left -= Int64(bytes.count)
    digest?.update(bytes)
    return bytes
  }

  /// Reads a line of the block. It includes the line ending, unless the block ends or `limit` bytes are reached
  /// first.
  func line(upTo limit: Int) throws -> [UInt8] {
    let line = try input.line(upTo: Int(min(left, Int64(limit))))
    guard !line.isEmpty || left == 0 else { throw WARCError("it ends in the middle of a record") }
    left -= Int64(line.count)
    digest?.update(line[...])
    if isIndexing { head += line }
    return line
  }

  /// Reads a whole block.
  ///
  /// - Returns: The block; `nil` if it is larger than `limit` bytes.
  func block(upTo limit: ByteCount) throws -> [UInt8]? {
    guard ByteCount(left) <= limit else { return nil }
    var bytes: [UInt8] = []
    while case let chunk = try read(), !chunk.isEmpty { bytes += chunk }
    return bytes
  }

  /// Skips the rest of the block, and compares its digest.
  func finishBlock() throws {
    while try !read().isEmpty {}
    if let digest { isBlockDigestRight = digest.isRight }
    digest = nil
  }
}

/// An error in a WARC file: a clause that quotes nothing from the file.
struct WARCError: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
