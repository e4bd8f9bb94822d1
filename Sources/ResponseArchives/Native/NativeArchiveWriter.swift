import Archive
import Bytes
import Files
import ResponseStorage

/// Writes the members of a native archive, and collects their checksums for the end.
struct NativeArchiveWriter: ~Copyable {
  private var archive: ArchiveWriter
  /// The checksum lines, which may be too large for memory.
  private var checksums: TemporaryFile
  private var lines: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The number of members so far.
  private(set) var memberCount: Int64 = 0

  /// - Parameter temporaryFolder: The folder for the checksums until the end.
  init(_ archive: consuming ArchiveWriter, temporaryFolder: String) throws {
    checksums = try TemporaryFile(in: temporaryFolder)
    self.archive = archive
  }

  /// Appends a member that belongs to no entry.
  mutating func append(_ name: String, _ bytes: [UInt8]) throws {
    try archive.append(name, bytes)
    NativeArchive.appendChecksum(Digest(of: bytes).hexadecimal, of: name, to: &lines)
    memberCount += 1
  }

  /// Appends the members of an entry.
  ///
  /// - Parameter source: The entry, for the parts that are not in memory.
  /// - Throws: ``StoreError`` if a part changed since it was measured, or any error from reading or writing.
  mutating func append(_ entry: borrowing PreparedEntry, from source: ExportedEntry?) throws {
    let folder = entry.folder
    try append(folder + NativeArchive.documentName, entry.document)
    // A span avoids retaining and releasing the bytes of each member.
    let members = entry.members.span
    for index in members.indices {
      let name = folder + members[index].name.memberName
      if let contents = members[index].contents {
        try append(name, contents)
        continue
      }
      guard let content = source?.raw.part(members[index].name)?.content else {
        throw ResponseArchiveError(.cannotWrite, "'\(name)' disappeared before it was read again")
      }
      try archive.begin(name, size: content.size.bytes)
      try content.forEachVerifiedChunk { try archive.append($0) }
    }
    memberCount += 1 + Int64(members.count)
    lines += entry.checksums
    if lines.count >= 1 << 16 { try writeLines() }
  }

  private mutating func append(_ name: String, _ contents: PreparedEntry.Contents) throws {
    switch contents {
    case .bytes(let bytes): try archive.append(name, bytes)
    case .zipped(let member): try archive.append(name, member)
    }
  }

  private mutating func writeLines() throws {
    try checksums.append(lines)
    lines.removeAll(keepingCapacity: true)
  }

  /// Writes the checksums and finishes the archive.
  consuming func finish() throws {
    try writeLines()
    // A tar header contains the size of its member, so the checksums cannot be written while they
    // are collected.
    try archive.begin(NativeArchive.checksumsName, size: checksums.size)
    var offset: Int64 = 0
    while case let count = try checksums.read(into: &buffer, at: offset), count > 0 {
      try checkSignals()
      try archive.append(buffer[..<count])
      offset += Int64(count)
    }
    try archive.finish()
  }
}
