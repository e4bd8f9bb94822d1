import Archive
import Bytes
import Files
import JSON
import ResponseStorage

/// One pass over a native archive, from beginning to end.
///
/// Each member must be the one that the format requires next, a regular file, and match the size and digest in its
/// entry. Nothing is extracted, so no name in the archive ever becomes a path.
final class ArchiveWalk {
  private let path: String
  private let limits: ArchiveLimits
  private let isWholeFileCompressed: Bool
  private let isZip: Bool
  private let fileSize: ByteCount
  private var reader: ArchiveReader
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// The digest that the checksum file at the end must have.
  private var checksums = Digest()
  private(set) var checksumsDigest = ""
  /// The last checksum line, kept to reuse its memory.
  private var line: [UInt8] = []
  private var (memberCount, totalBytes) = (0 as Int64, 0 as ByteCount)
  private var (entryCount, bodyBytes) = (0 as Int64, 0 as ByteCount)
  private var lastID = Int64.min

  /// Starts a pass.
  init(_ file: ArchiveFile, _ format: ArchiveFormat, limits: ArchiveLimits) throws {
    path = file.path
    self.limits = limits
    fileSize = file.status.size
    // Members of a zip file are compressed one by one, so the ratio is compared with the size of
    // the whole file.
    isWholeFileCompressed = format.coding != nil
    isZip = format == .zip
    reader = try Self.translatingErrors(at: file.path, .notAnArchive) {
      try ArchiveReader(format, of: file.makeInput())
    }
  }

  private static func translatingErrors<Result: ~Copyable>(
    at path: String, _ kind: ResponseArchiveError.Kind, _ body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch let error as ArchiveError {
      throw ResponseArchiveError(kind, at: path, "libarchive reports: \(error)")
    } catch let error as JSONError {
      throw ResponseArchiveError(.damaged, at: path, "a document in it is malformed: \(error)")
    }
  }

  private func damage(_ fact: String) -> ResponseArchiveError {
    ResponseArchiveError(.damaged, at: path, fact)
  }

  // MARK: - Members

  /// Moves to the next member, which must have the given name.
  private func next(_ expected: String) throws -> ByteCount {
    let (name, size) = try next()
    guard name == expected else { throw damage("'\(expected)' is missing or misplaced") }
    return size
  }

  private func next() throws -> (name: String, size: ByteCount) {
    let kind: ResponseArchiveError.Kind = memberCount == 0 ? .notAnArchive : .damaged
    let member = try Self.translatingErrors(at: path, kind) { try reader.next() }
    guard let member else {
      throw memberCount == 0
        ? ResponseArchiveError(.notAnArchive, at: path, "it has no members")
        : damage(
          "it ends unexpectedly after \(entryCount) \(entryCount == 1 ? "entry" : "entries")")
    }
    memberCount += 1
    try limits.check(memberCount, .members, at: path)
    if let finding = member.finding { throw damage("member \(memberCount) \(finding)") }
    // Nothing is extracted, so a name is harmless here. But error messages, terminals and other
    // programs would meet it, and this program writes only plain ASCII names.
    guard let bytes = member.name, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw damage("member \(memberCount) has an unexpected name")
    }
    // libarchive reads members of a zip without a size, but neither limits nor digests could be
    // checked before they are read.
    guard let size = member.size.map({ ByteCount($0) }), size >= 0 else {
      throw damage("member \(memberCount) has no size")
    }
    try limits.check(size, .member, at: path)
    try limits.check(totalBytes + size, .total, at: path)
    return (String(decoding: bytes, as: UTF8.self), size)
  }

  /// Reads the next bytes of a member.
  private func read(into buffer: inout [UInt8]) throws -> Int {
    try checkSignals()
    let count = try Self.translatingErrors(at: path, .damaged) { try reader.read(into: &buffer) }
    totalBytes += ByteCount(count)
    let read = isWholeFileCompressed ? ByteCount(reader.progress.read) : fileSize
    try limits.checkRatio(totalBytes, outOf: read, at: path)
    return count
  }

  /// Reads a whole member.
  private func bytes(_ name: String, size: ByteCount, upTo limit: ArchiveLimits.Name) throws
    -> [UInt8]
  {
    try limits.check(size, limit, at: path)
    var bytes: [UInt8] = []
    while case let count = try read(into: &buffer), count > 0 {
      // The announced size is not trusted: memory is only allocated for bytes that were read.
      if bytes.isEmpty { bytes = Array(buffer[..<count]) } else { bytes += buffer[..<count] }
      guard ByteCount(bytes.count) <= size else { break }
    }
    guard ByteCount(bytes.count) == size else {
      throw damage("'\(name)' does not have its declared size")
    }
    return bytes
  }

  private func note(_ name: String, _ sha256: String) {
    line.removeAll(keepingCapacity: true)
    NativeArchive.appendChecksum(sha256, of: name, to: &line)
    checksums.update(line[...])
  }

  private func document(_ name: String, size: ByteCount) throws -> [UInt8] {
    let bytes = try bytes(name, size: size, upTo: .document)
    note(name, Digest(of: bytes).hexadecimal)
    return bytes
  }

  // MARK: - Entries

  /// Reads the header.
  func header() throws -> ArchiveHeader {
    let (name, size) = try next()
    guard name == NativeArchive.headerName else {
      throw ResponseArchiveError(
        .notAnArchive, at: path, "its first member is not '\(NativeArchive.headerName)'")
    }
    let bytes = try document(name, size: size)
    return try Self.translatingErrors(at: path, .damaged) {
      try ArchiveHeader(reading: bytes, at: path)
    }
  }

  /// Reads the next entry. Its body must be read before the next entry.
  ///
  /// - Parameter verifyingBody: Whether to read and verify a body that `body` did not read.
  /// - Returns: `false` if there are no more entries and the end of the archive is valid, or if `body` stopped the
  ///   pass.
  func nextEntry(
    verifyingBody: Bool, _ body: (RawResponse) throws -> ScanStep
  ) throws -> Bool {
    let (name, size) = try next()
    if name == NativeArchive.manifestName {
      try finish(size)
      return false
    }
    entryCount += 1
    try limits.check(entryCount, .entries, at: path)
    let folder = NativeArchive.folder(entryCount)
    guard name == folder + NativeArchive.documentName else {
      throw damage("member \(memberCount) does not start entry \(entryCount)")
    }
    let bytes = try document(name, size: size)
    let entry = try Self.translatingErrors(at: path, .damaged) {
      try EntryDocument(reading: bytes)
    }
    // Increasing ids also rule out duplicates without keeping every id in memory.
    guard entry.raw.id > lastID || entryCount == 1 else {
      throw damage("entry \(entryCount) is out of order")
    }
    lastID = entry.raw.id
    return try pass(entry, folder, verifyingBody, body)
  }

  private func pass(
    _ entry: EntryDocument, _ folder: String, _ verifyingBody: Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws -> Bool {
    var raw = entry.raw
    for member in entry.members where member.name != .body {
      raw.set(member, try list(of: member, folder + member.name.memberName))
    }
    guard let member = entry.members.first(where: { $0.name == .body }) else {
      return try body(raw) == .next
    }
    let name = folder + member.name.memberName
    guard try next(name) == member.size else { throw wrongSize(name) }
    let reading = MemberReading(member)
    raw.set(
      member,
      Body(size: member.size, sha256: member.sha256, isReadOnce: true) { [self] in
        BodyReader(size: member.size) { [self] in try readOn(reading, name, into: &$0) }
      })
    if try body(raw) == .stop { return false }
    // A body that was begun is read to its end, because libarchive would otherwise skip bytes that
    // no digest was compared with.
    if verifyingBody || reading.count > 0 {
      while try readOn(reading, name, into: &buffer) > 0 {}
    }
    bodyBytes += member.size
    note(name, member.sha256)
    return true
  }

  /// Reads a property list.
  private func list(of member: EntryDocument.Member, _ name: String) throws -> Body {
    guard try next(name) == member.size else { throw wrongSize(name) }
    let bytes = try bytes(name, size: member.size, upTo: .list)
    // libarchive 3.6 compares neither the checksum nor the length of gzip data, and writes zstd
    // without a checksum. So these digests are the only protection against changed bits.
    guard Digest(of: bytes).hexadecimal == member.sha256 else { throw wrongDigest(name) }
    note(name, member.sha256)
    if member.size <= RawResponse.largestList, !member.isText { return Body(bytes) }
    // Only lists in memory are decoded, and this one is text or too large.
    return Body(size: member.size, sha256: member.sha256) { BodyReader(bytes) }
  }

  /// The progress of reading the body of an entry.
  private final class MemberReading {
    let member: EntryDocument.Member
    var count: ByteCount = 0
    var isWhole = false
    var digest = Digest()

    init(_ member: EntryDocument.Member) { self.member = member }
  }

  /// Reads the next bytes of a body, and verifies its size and digest at the end.
  private func readOn(
    _ reading: MemberReading, _ name: String, into buffer: inout [UInt8]
  ) throws -> Int {
    if reading.isWhole { return 0 }
    let count = try read(into: &buffer)
    reading.count += ByteCount(count)
    reading.digest.update(buffer[..<count])
    if count > 0, reading.count <= reading.member.size { return count }
    reading.isWhole = true
    guard reading.count == reading.member.size else { throw wrongSize(name) }
    guard reading.digest.hexadecimal == reading.member.sha256 else { throw wrongDigest(name) }
    return 0
  }

  private func wrongSize(_ name: String) -> ResponseArchiveError {
    damage("'\(name)' does not have the size that its entry declares")
  }

  private func wrongDigest(_ name: String) -> ResponseArchiveError {
    damage("'\(name)' does not match its SHA-256")
  }

  // MARK: - End

  /// Reads the manifest and the checksums, and checks that nothing follows.
  private func finish(_ size: ByteCount) throws {
    let members = memberCount - 1
    let manifest = try document(NativeArchive.manifestName, size: size)
    let isRight = try Self.translatingErrors(at: path, .damaged) {
      try ArchiveManifest(reading: manifest)
        == ArchiveManifest(entries: entryCount, members: members, bodyBytes: bodyBytes)
    }
    guard isRight else { throw damage("its manifest does not match its contents") }
    let name = NativeArchive.checksumsName
    var left = try next(name)
    var digest = Digest()
    while case let count = try read(into: &buffer), count > 0 {
      left -= ByteCount(count)
      digest.update(buffer[..<count])
    }
    checksumsDigest = checksums.hexadecimal
    guard left == 0, digest.hexadecimal == checksumsDigest else {
      throw damage("'\(name)' does not match its members")
    }
    try Self.translatingErrors(at: path, .damaged) {
      guard try reader.next() == nil else { throw damage("there is data after '\(name)'") }
      // Data after the end of a tar would be another archive to another program. The directory of a
      // zip file follows its members and was compared separately.
      if !isZip { try reader.end() }
    }
  }
}

extension RawResponse {
  /// Sets the content of the part that a member contains.
  fileprivate mutating func set(_ member: EntryDocument.Member, _ content: Body) {
    guard let index = parts.firstIndex(where: { $0.name == member.name }) else { return }
    (parts[index].isText, parts[index].content) = (member.isText, content)
  }
}
