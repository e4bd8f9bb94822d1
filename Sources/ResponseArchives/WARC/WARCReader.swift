import Archive
import Bytes
import Files
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

/// A WARC 1.0 or 1.1 file, read as a store.
final class WARCSource: WARCBackedArchive {
  static let name = "WARC"

  let file: ArchiveFile
  let description: StoreDescription
  let limits: ArchiveLimits
  let entries: WARCEntries

  static func isArchive(_ file: ArchiveFile) -> Bool {
    let mark = Array("WARC/".utf8)
    // By the bytes: files are renamed, and `.gz` says nothing about what is inside.
    return file.decodedStart(mark.count).starts(with: mark)
  }

  init(_ file: ArchiveFile, limits: ArchiveLimits) throws {
    self.file = file
    self.limits = limits
    entries = try WARCEntries(
      FileBytes(file), limits: limits, path: file.path)
    description = StoreDescription(
      path: file.path, format: .archive, schemaVersion: nil, identity: file.status.identity)
  }
}

extension FileBytes {
  /// Creates random access to an archive file.
  init(_ file: ArchiveFile) {
    self.init(size: { file.status.size }) { try file.read(into: &$0, at: $1) }
  }

  /// Creates random access to an unnamed file.
  init(_ file: consuming TemporaryFile) {
    let holder = Holder(file)
    self.init(size: { ByteCount(holder.file.size) }) { try holder.file.read(into: &$0, at: $1) }
  }

  private final class Holder: Sendable {
    let file: TemporaryFile

    init(_ file: consuming TemporaryFile) { self.file = file }
  }
}

/// An archive whose entries are in a WARC file: the file itself, or one that was extracted from it.
protocol WARCBackedArchive: ArchiveKind {
  /// The entries of the WARC file.
  var entries: WARCEntries { get }
}

extension WARCBackedArchive {
  var rawLayout: RawLayout { .ofNewResponses }

  var omissions: [ArchiveOmission] { entries.omissions }

  var damagedRecords: [DamagedRecord] { entries.damaged }

  var redirectsWithoutBody: Int64 { entries.redirectsWithoutBody }

  func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {
    for record in damagedRecords {
      try body(Finding(.wrongDigest, record.description, url: record.url))
    }
  }

  func forEachEntry(verifyingBodies: Bool, _ body: (RawResponse) throws -> ScanStep) throws {
    // The index has verified all bodies, and a caller that asks for verification reads few of them.
    try entries.forEach(readsBodies: !verifyingBodies, body)
  }

  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try entries.forEach(readsBodies: false) { try body(StoredResponse(decoding: $0, projection)) }
  }

  func forEachEntry(of numbers: [Int64], _ body: (RawResponse) throws -> ScanStep) throws {
    try entries.forEach(of: numbers, body)
  }

  func count() throws -> Int64 { try entries.countAll() }
}

/// Verifies the records from one `warcinfo` record to the next.
///
/// If this program wrote them, their ids reveal changed headers, and the last record reveals missing ones. WARC
/// itself can detect neither.
struct WARCSequence {
  /// Whether this program wrote the records.
  private(set) var isOurs = false

  private var entries: Int64 = 0
  private var isWhole = true

  // A `warcinfo` block of another program may hold a whole configuration, of which only the
  // software line matters here.
  /// The size of the largest `warcinfo` block that is read, in bytes.
  private static let longest = ByteCount(1 << 16)

  /// Reads a `warcinfo` record, which starts a new sequence.
  mutating func begin(_ reader: WARCReader) throws {
    try end()
    let header = reader.header
    let lines = try reader.block(upTo: Self.longest)?.split(separator: 0x0A) ?? []
    // Files can be concatenated, so each `warcinfo` record decides for the records that follow it.
    isOurs = lines.contains { $0.starts(with: Array("software: \(WARCLabel.software)".utf8)) }
    (entries, isWhole) = (0, !isOurs)
    try checkID(header)
  }

  /// Checks a record of the sequence.
  mutating func check(_ header: WARCHeader, isEntry: Bool) throws(WARCError) {
    guard isOurs else { return }
    guard !isWhole else { throw WARCError("a record follows the final record") }
    if isEntry { entries += 1 }
    try checkID(header)
  }

  /// Checks a `metadata` record, which may be the last record.
  mutating func readEnd(_ reader: WARCReader) throws {
    guard isOurs else { return }
    let header = reader.header
    let block = try reader.block(upTo: Self.longest) ?? []
    let mark = Array(WARCLabel.end.utf8)
    // Other metadata records are allowed anywhere in a WARC file.
    guard block.starts(with: mark) else { return }
    let number = Int64(digits: block.dropFirst(mark.count).prefix(while: \.isASCIIDigit))
    guard number == entries, !isWhole else {
      throw WARCError("its declared number of entries does not match its contents")
    }
    isWhole = true
    try checkID(header)
  }

  /// Checks that the sequence ended with its last record.
  func end() throws(WARCError) {
    guard isWhole else {
      throw WARCError(
        "it ends unexpectedly after \(entries) \(entries == 1 ? "entry" : "entries")")
    }
  }

  private func checkID(_ header: WARCHeader) throws(WARCError) {
    guard isOurs, header["warc-record-id"] != header.derivedID else { return }
    throw WARCError("the header of a record does not match its id")
  }
}
