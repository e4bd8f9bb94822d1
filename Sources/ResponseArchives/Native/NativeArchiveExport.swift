import Archive
import Bytes
import ResponseStorage

/// Writes a native archive, which keeps everything in each entry.
final class NativeArchiveExport: ResponseArchiveWriter {
  private var archive: NativeArchiveWriter?
  private let longestMember: ByteCount
  private let temporaryFolder: String
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
      bodies: export.bodies)
    try archive.append(NativeArchive.headerName, header.json)
    self.archive = consume archive
    longestMember = ByteCount(container.longestMember)
    temporaryFolder = export.temporaryFolder
    preparation = EntryPreparation(for: export, into: container)
  }

  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool {
    let isEnqueued = try preparation.add(raw, number: number)
    // An entry that could not be queued can be read only now, so all queued entries must be written before it.
    try preparation.forEachPrepared(all: !isEnqueued) { entry in
      try archive?.append(entry, from: nil)
    }
    return isEnqueued
  }

  func append(_ entry: ExportedEntry) throws -> String? {
    // A ustar header has no room for larger sizes. A pax header would, but takes four times as many instructions.
    if let body = entry.body, body.size > longestMember {
      return "its body is too large for a tar archive"
    }
    var entry = entry
    let prepared = try PreparedEntry(&entry, temporaryFolder: temporaryFolder)
    try archive?.append(prepared, from: entry)
    return nil
  }

  func finish(_ summary: ArchiveExport.Summary) throws {
    try preparation.forEachPrepared(all: true) { entry in
      try archive?.append(entry, from: nil)
    }
    guard var archive = archive.take() else { return }
    // The totals come last, so that an archive can be written to a pipe.
    let manifest = ArchiveManifest(
      entries: summary.entries, members: archive.memberCount, bodyBytes: summary.bodyBytes)
    try archive.append(NativeArchive.manifestName, manifest.json)
    try archive.finish()
  }
}
