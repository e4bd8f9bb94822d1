import Archive
import Bytes
import Files
import JSON
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

  init(_ archive: consuming ArchiveWriter) throws {
    checksums = try TemporaryFile()
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

/// Writes a native archive, which keeps everything in each entry.
final class NativeArchiveExport: ResponseArchiveWriter {
  private var archive: NativeArchiveWriter?
  private let longestMember: ByteCount
  private let preparation: EntryPreparation

  init(
    _ container: ArchiveFormat, for export: ArchiveExport, of source: RawLayout,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws {
    var archive = try NativeArchiveWriter(
      ArchiveWriter(container, level: export.level, threads: export.threads, writing: write))
    let header = ArchiveHeader(
      created: export.created, generatorVersion: export.generatorVersion, source: source,
      redacted: export.credentials?.places ?? [], isSelection: export.isSelection,
      bodies: export.bodies)
    try archive.append(NativeArchive.headerName, header.json)
    self.archive = consume archive
    longestMember = ByteCount(container.longestMember)
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
    let prepared = try PreparedEntry(&entry)
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

extension ExportedEntry {
  /// Returns the document of the entry: all columns, the sizes and digests of the members that follow, and, for
  /// people, the contents of the property lists. It has one member per line.
  ///
  /// - Parameter members: The members that follow.
  func document(of members: [EntryDocument.Member]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2_048)
    JSONWriter.append(to: &bytes, .ascii) { json in
      json.object(.lines) { json in
        json.object("key") { $0.member("text", text: response.key) }
        describe(members, &json)
        json.member("partition", text: response.partition)
        if !redacted.isEmpty { json.member("redacted", redacted) }
        json.object("request") { json in
          headers(response.request.headers, &json)
          json.member("method", text: response.request.method)
        }
        json.object("response") { json in
          headers(response.responseHeaders, &json)
          json.member("length", response.bodySize)
          json.member("mime", text: response.mimeType)
          json.member("status", response.status)
        }
        row(&json)
        json.member("stored", response.stored)
        json.member("url", text: response.url.map { EscapedURI($0).text })
        json.member("warnings", warnings)
      }
      json.endLine()
    }
    return bytes
  }

  /// The names of all parts, in the order of the document.
  private static let sortedNames = RawResponse.Part.Name.allCases.sorted {
    $0.rawValue < $1.rawValue
  }

  /// Writes the members. A part whose row is missing is absent; a part that is `NULL` is `null`.
  private func describe(_ members: [EntryDocument.Member], _ json: inout JSONWriter) {
    // Spans avoid retaining and releasing everything in each element.
    let (parts, members) = (raw.parts.span, members.span)
    json.object("members") { json in
      for name in Self.sortedNames
      where parts.indices.contains(where: { parts[$0].name == name }) {
        json.key(named: name.rawValue)
        guard let index = members.indices.first(where: { members[$0].name == name }) else {
          json.null()
          continue
        }
        describe(members[index], &json)
      }
    }
  }

  private func describe(_ member: borrowing EntryDocument.Member, _ json: inout JSONWriter) {
    let (name, size) = (member.name, member.size)
    json.object { json in
      if member.isText { json.member("class", "text") }
      json.member("name", name.memberName)
      if name == .body { json.member("on_fs", raw.hasBodyFile) }
      json.member("sha256", member.sha256)
      json.member("size", size)
    }
  }

  private func row(_ json: inout JSONWriter) {
    let columns = raw.columns.span
    json.object("row") { json in
      // Sorted, so that equal entries give equal bytes whatever the order of the columns in their
      // schema.
      for index in columns.indices.sorted(by: { columns[$0].name < columns[$1].name }) {
        json.key(named: columns[index].name)
        json.value(columns[index].value, of: columns[index].name)
      }
    }
  }

  /// Writes header fields: a string for each, or an array for a repeated field.
  private func headers(_ headers: HeaderFields?, _ json: inout JSONWriter) {
    guard let headers else { return json.null("headers") }
    let fields = headers.fields.span
    var rest = fields.indices.sorted { first, second in
      fields[first].name == fields[second].name
        ? first < second : fields[first].name < fields[second].name
    }[...]
    json.object("headers") { json in
      while let first = rest.first {
        let same = rest.prefix { fields[$0].name == fields[first].name }
        rest = rest[same.endIndex...]
        json.key(repairing: fields[first].name.bytes)
        if same.count == 1 {
          json.text(fields[first].value)
        } else {
          json.array { json in for index in same { json.text(fields[index].value) } }
        }
      }
    }
  }
}
