import Archive
import Files
public import ResponseStorage

/// The writing of entries to a native archive.
///
/// Each entry is read twice: first for the sizes and digests, which stand before its bytes, and then for
/// the bytes themselves, whose digest is compared. What is in memory does not grow with the store.
public struct ArchiveExport {
  /// What was written.
  public struct Summary: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sizes of their bodies, in bytes.
    public var bodyBytes: Int64 = 0
    /// The number of entries whose body the store does not have.
    public var missingBodies: Int64 = 0
    /// Why entries that are wanted were left out: a clause, with the number of them for which it is so.
    public var leftOut: [String: Int64] = [:]
    /// What was made up, as the store does not know it: a clause, with the number of the entries.
    public var inventions: [String: Int64] = [:]
  }

  /// The archive format.
  public var format: ExportFormat
  /// How hard to compress, one of the levels of the format; `nil` for its default.
  public var level: Int?
  /// The number of threads to compress with.
  public var threads = 1
  /// The moment that the archive is of.
  public var created: Timestamp?
  /// The version of this program.
  public var generatorVersion: String
  /// Whether not all entries are wanted.
  public var isSelection = false
  /// Whether bodies are left out.
  public var leavesOutBodies = false
  /// Where checksums are kept meanwhile.
  public var temporaryFolder: String

  /// Creates an export.
  public init(_ format: ExportFormat, generatorVersion: String, temporaryFolder: String) {
    self.format = format
    self.generatorVersion = generatorVersion
    self.temporaryFolder = temporaryFolder
  }

  /// Writes the entries that are wanted.
  ///
  /// - Parameters:
  ///   - projection: What to decode for `isWanted`.
  ///   - isWanted: Whether to write an entry.
  ///   - write: Takes the next bytes of the archive.
  /// - Throws: ``StoreError``, ``ArchiveError``, or whatever the closures throw.
  public func run(
    on source: any RawResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws -> Summary {
    do {
      return try self.write(source, projection, where: isWanted, write)
    } catch let error as ArchiveError {
      throw NativeArchiveError(.cannotWrite, "the archive cannot be written: \(error)")
    }
  }

  private func write(
    _ source: any RawResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ write: @escaping ([UInt8]) throws -> Void
  ) throws -> Summary {
    var archive = try NativeArchiveWriter(
      ArchiveWriter(format.container, level: level, threads: threads, writing: write),
      temporaryFolder: temporaryFolder)
    let header = ArchiveHeader(
      created: created, generatorVersion: generatorVersion, source: try source.rawLayout,
      isSelection: isSelection, leavesOutBodies: leavesOutBodies)
    try archive.append(NativeArchive.headerName, header.json)
    var summary = Summary()
    try source.forEachRawResponse(projection, where: isWanted) { raw in
      if let flaw = raw.flaw {
        summary.leftOut[flaw, default: 0] += 1
        return .next
      }
      summary.entries += 1
      try append(raw, number: summary.entries, to: &archive, &summary)
      return .next
    }
    let manifest = ArchiveManifest(
      entries: summary.entries, members: archive.memberCount, bodyBytes: summary.bodyBytes)
    try archive.append(NativeArchive.manifestName, manifest.json)
    try archive.finish()
    return summary
  }

  private func append(
    _ raw: RawResponse, number: Int64, to archive: inout NativeArchiveWriter,
    _ summary: inout Summary
  ) throws {
    var raw = raw
    let decoded = StoredResponse(decoding: raw, .all)
    var warnings = decoded.notes.map(\.message) + raw.inventions.map { "made up: \($0)" }
    for invention in raw.inventions { summary.inventions[invention, default: 0] += 1 }
    if decoded.bodyLocation == .missing { summary.missingBodies += 1 }
    if leavesOutBodies, let index = raw.parts.firstIndex(where: { $0.name == .body }) {
      raw.parts[index].contents = .null
      warnings.append("the body was left out")
    }
    let members = try raw.parts.compactMap { try member(of: $0) }
    let document = EntryDocument(
      raw: raw, members: members, decoded: decoded, warnings: warnings)
    let folder = NativeArchive.folder(number)
    try archive.append("\(folder)/\(NativeArchive.documentName)", document.json)
    for member in members {
      if member.name == .body { summary.bodyBytes = summary.bodyBytes.addingClamped(member.size) }
      let name = "\(folder)/\(member.name.memberName)"
      switch raw.part(member.name)?.contents {
      case .bytes(let bytes): try archive.append(name, bytes, sha256: member.sha256)
      case .stream(let stream): try archive.append(name, stream, sha256: member.sha256)
      case .null, nil: break
      }
    }
  }

  /// Measures a part, reading it if need be.
  private func member(of part: RawResponse.Part) throws -> EntryDocument.Member? {
    guard let size = part.size, let sha256 = try part.digest() else { return nil }
    return .init(name: part.name, isText: part.isText, size: size, sha256: sha256)
  }
}
