import Archive
import Files
import ResponseStorage

/// Writes the members of a native archive, and keeps their digests for its end.
struct NativeArchiveWriter: ~Copyable {
  private var archive: ArchiveWriter
  /// The text of the checksums, which may be too long for memory.
  private var checksums: TemporaryFile
  private var lines: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The number of members so far.
  private(set) var memberCount: Int64 = 0

  /// - Parameter temporaryFolder: Where the checksums are kept meanwhile.
  init(_ archive: consuming ArchiveWriter, temporaryFolder: String) throws {
    checksums = try TemporaryFile(in: temporaryFolder)
    self.archive = archive
  }

  /// Appends a member whose bytes are in memory.
  mutating func append(_ name: String, _ bytes: [UInt8], sha256: String? = nil) throws {
    try archive.append(name, bytes)
    try note(name, sha256 ?? Digest(of: bytes).hexadecimal)
  }

  /// Appends a member that is read piece by piece.
  ///
  /// - Throws: ``StoreError`` if the bytes are others than they were, or whatever reading or writing
  ///   throws.
  mutating func append(_ name: String, _ contents: ExportedBody) throws {
    let sha256 = try contents.digest()
    try archive.begin(name, size: contents.size)
    try contents.forEachPiece { try archive.append($0) }
    try note(name, sha256)
  }

  private mutating func note(_ name: String, _ sha256: String) throws {
    memberCount += 1
    lines += NativeArchive.checksumLine(name, sha256)
    if lines.count >= 1 << 16 { try writeLines() }
  }

  private mutating func writeLines() throws {
    try checksums.append(lines)
    lines.removeAll(keepingCapacity: true)
  }

  /// Ends the archive with its checksums.
  consuming func finish() throws {
    try writeLines()
    try archive.begin(NativeArchive.checksumsName, size: checksums.size)
    var offset: Int64 = 0
    while case let count = try checksums.read(into: &buffer, at: offset), count > 0 {
      try archive.append(buffer[..<count])
      offset += Int64(count)
    }
    try archive.finish()
  }
}

extension Digest {
  /// The digest of some bytes.
  init(of bytes: [UInt8]) {
    self.init()
    update(bytes[...])
  }
}
