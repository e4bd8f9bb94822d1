import Archive
import ResponseStorage

/// Writes a native archive, which keeps all of each entry.
final class NativeArchiveExport: ResponseArchiveWriter {
  private var archive: NativeArchiveWriter?
  private let longestMember: Int64
  private let preparation: EntryPreparation

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
    longestMember = container.longestMember
    preparation = EntryPreparation(for: export)
  }

  func take(_ raw: RawResponse, number: Int64) throws -> Bool {
    let isTaken = preparation.add(raw, number: number)
    // What is read piece by piece can be read only now, and comes after all that was there before.
    try preparation.forEachPrepared(all: !isTaken) { try write($0, from: nil) }
    return isTaken
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    if let body = entry.body, body.size > longestMember {
      return "its body is longer than a tar archive can hold"
    }
    try write(PreparedEntry(entry), from: entry)
    return nil
  }

  /// Writes an entry.
  ///
  /// - Parameter source: What has the bytes that are not in memory.
  private func write(_ entry: PreparedEntry, from source: ExportedEntry?) throws {
    try archive?.append(entry.documentName, entry.document, sha256: entry.documentSHA256)
    for member in entry.members {
      if let bytes = member.bytes {
        try archive?.append(member.name, bytes, sha256: member.description.sha256)
      } else if member.description.name == .body, let body = source?.body {
        try archive?.append(member.name, body)
      } else if let list = ExportedBody(
        source?.raw.part(member.description.name), temporaryFolder: "")
      {
        try archive?.append(member.name, list)
      }
    }
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try preparation.forEachPrepared(all: true) { try write($0, from: nil) }
    guard var archive = archive.take() else { return }
    let manifest = ArchiveManifest(
      entries: summary.entries, members: archive.memberCount, bodyBytes: summary.bodyBytes)
    try archive.append(NativeArchive.manifestName, manifest.json)
    try archive.finish()
  }
}
