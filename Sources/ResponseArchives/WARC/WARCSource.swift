import Archive
import Bytes
import Files
import ResponseStorage

/// A WARC 1.0 or 1.1 file, read as a store.
final class WARCSource: WARCBackedArchive {
  static let name = "a WARC"

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
      FileBytes(file), limits: limits, path: file.path, temporaryFolder: file.temporaryFolder)
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
