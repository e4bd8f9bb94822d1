import Archive
import ResponseStorage

/// Writes a native archive, which keeps all of each entry.
final class NativeArchiveExport: ResponseArchiveWriter {
  private var archive: NativeArchiveWriter?

  init(
    _ container: ArchiveFormat, for export: ArchiveExport, of source: RawLayout,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    var archive = try NativeArchiveWriter(
      ArchiveWriter(container, level: export.level, threads: export.threads, writing: write),
      temporaryFolder: export.temporaryFolder)
    let header = ArchiveHeader(
      created: export.created, generatorVersion: export.generatorVersion, source: source,
      redacted: export.credentials?.places ?? [], isSelection: export.isSelection,
      leavesOutBodies: export.leavesOutBodies)
    try archive.append(NativeArchive.headerName, header.json)
    self.archive = consume archive
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    let members = try entry.raw.parts.compactMap { try member(of: $0, entry.body) }
    let document = EntryDocument(
      raw: entry.raw, members: members, decoded: entry.response, redacted: entry.redacted,
      warnings: entry.warnings)
    let folder = NativeArchive.folder(entry.number)
    try archive?.append("\(folder)/\(NativeArchive.documentName)", document.json)
    for member in members {
      let name = "\(folder)/\(member.name.memberName)"
      if member.name == .body, let body = entry.body {
        try archive?.append(name, body)
      } else if case .bytes(let bytes) = entry.raw.part(member.name)?.contents {
        try archive?.append(name, bytes, sha256: member.sha256)
      } else if let list = ExportedBody(entry.raw.part(member.name), temporaryFolder: "") {
        try archive?.append(name, list)
      }
    }
    return nil
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    guard var archive = archive.take() else { return }
    let manifest = ArchiveManifest(
      entries: summary.entries, members: archive.memberCount, bodyBytes: summary.bodyBytes)
    try archive.append(NativeArchive.manifestName, manifest.json)
    try archive.finish()
  }

  /// Measures a part, reading it if need be.
  private func member(
    of part: RawResponse.Part, _ body: ExportedBody?
  ) throws -> EntryDocument.Member? {
    let sha256 = try part.name == .body ? body?.digest() : part.digest()
    guard let size = part.size, let sha256 else { return nil }
    return .init(name: part.name, isText: part.isText, size: size, sha256: sha256)
  }
}
