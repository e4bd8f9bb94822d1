import Archive
public import Bytes
public import ResponseStorage

/// An export of entries to an archive.
///
/// Archives contain the size and digest of an entry before its bytes, so large bodies are read twice: once to measure
/// them, and once to write them and compare the digest. Memory use does not grow with the store.
public struct ArchiveExport: Sendable {
  /// The name and version of the library for archives, for example `libarchive 3.6.2`; `nil` if it cannot be loaded.
  public static var libraryVersion: String? { ArchiveLibrary.version }

  /// The version of libdeflate.
  public static var deflateVersion: String { ArchiveLibrary.deflateVersion }

  /// The result of an export.
  public struct Summary: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int64 = 0
    /// The total size of the bodies, in bytes.
    public var bodyBytes: ByteCount = 0
    /// The number of entries whose body is missing from the store.
    public var missingBodies: Int64 = 0
    /// The entries that were skipped: the store cannot read them, or the format cannot represent them.
    public var omissions: [ArchiveOmission] = []
    /// Values that were synthesized because the store does not record them: a clause for each, with the number of
    /// entries.
    public var synthesizedFields: [String: Int64] = [:]
    /// The secrets that were removed; `nil` if redaction was off.
    public var redaction: Redaction.Tally?
  }

  /// The archive format.
  public var format: ExportFormat
  /// The compression level, one of the format's ``ExportFormat/levels``; `nil` for the default.
  public var level: Int?
  /// The number of compression threads.
  public var threads = 1
  /// The creation time that the archive records.
  public var created: Timestamp?
  /// The version of this program.
  public var generatorVersion: String
  /// Whether only some of the entries are exported.
  public var isSelection = false
  /// Which bodies the archive contains; ``ArchivedBodies/none`` leaves them out.
  public var bodies = ArchivedBodies.all
  /// The largest body that is exported, in bytes; entries with larger ones are skipped. The default, 8 GiB, is the
  /// limit of a tar header.
  public var longestBody = ByteCount(8 << 30)
  /// The filter that removes credentials; `nil` to export them.
  public var credentials: CredentialFilter?

  /// Creates an export. It removes credentials unless the format is native, which is meant to keep everything.
  public init(_ format: ExportFormat, generatorVersion: String) {
    self.format = format
    self.generatorVersion = generatorVersion
    // A native archive is a backup, which must restore everything. The other formats are made to be
    // passed on, and Chrome's developer tools leave cookies and credentials out of a HAR by default
    // as well.
    credentials = format.isNative ? nil : CredentialFilter()
  }

  /// Writes the entries that match `isWanted` to an archive.
  ///
  /// - Parameters:
  ///   - projection: The fields to decode for `isWanted`.
  ///   - isWanted: Whether to write an entry.
  ///   - write: Receives the next bytes of the archive. During long work it is also called with no bytes, so that it
  ///     can abort the export by throwing.
  /// - Throws: ``StoreError``, ``ResponseArchiveError``, or any error that the closures throw.
  public func run(
    on source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws -> Summary {
    do {
      let writer = try format.makeWriter(for: self, of: source.rawLayout, writing: write)
      return try run(on: source, projection, where: isWanted, into: writer)
    } catch let error as ArchiveError {
      throw ResponseArchiveError(.cannotWrite, "cannot write the archive: \(error)")
    }
  }

  /// Writes the entries that match `isWanted` as files in a folder.
  ///
  /// - Throws: ``StoreError``, or any error that the closure or the folder throws.
  public func run(
    on source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool, into folder: any ExportFolder
  ) throws -> Summary {
    try run(
      on: source, projection, where: isWanted, into: FilesExport(for: self, in: folder))
  }

  /// Passes the entries that match `isWanted` to a writer.
  func run(
    on source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool,
    into writer: any ResponseArchiveWriter
  ) throws -> Summary {
    var summary = Summary()
    var keys: Set<TextDigest> = []
    let redaction = credentials.map { Redaction($0) }
    try source.forEachRawResponse(projection, where: isWanted) { raw in
      if let finding = raw.finding {
        summary.omissions.add(finding)
        return .next
      }
      // Skipped entries are counted with their reason, and the command exits with status 3: an
      // export must never lose entries without saying so.
      if let reason = exportFinding(to: raw) {
        summary.omissions.add(reason)
        return .next
      }
      let number = summary.entries + 1
      // Redaction may reject an entry, and only finds out by decoding it, so redacted entries are not queued.
      if try isRedacted || !writer.enqueue(raw, number: number),
        let reason = try append(raw, number: number, to: writer, redaction, &keys)
      {
        summary.omissions.add(reason)
        return .next
      }
      summary.entries += 1
      for field in raw.synthesizedFields { summary.synthesizedFields[field, default: 0] += 1 }
      if let size = raw.bodySize {
        if bodies != .none { summary.bodyBytes += size }
      } else {
        summary.missingBodies += 1
      }
      return .next
    }
    summary.redaction = redaction?.tally
    try writer.finish(summary)
    return summary
  }

  /// Returns why an entry cannot be exported because of its body, as a clause; `nil` if it can.
  private func exportFinding(to raw: RawResponse) -> String? {
    guard bodies != .none, let body = raw.part(.body)?.content else { return nil }
    if body.size > longestBody { return "its body is larger than '--max-body'" }
    // A sparse file takes no space, but could take years to read.
    return body.isSparse ? Self.isSparse : nil
  }

  /// The reason for skipping an entry whose body is a sparse file.
  public static let isSparse =
    "its body is a sparse file, far longer than the data in it"

  /// Whether credentials are removed from a native archive, which otherwise keeps everything.
  private var isRedacted: Bool { format.isNative && credentials != nil }

  /// Decodes an entry and writes it, without its credentials if they are to be removed.
  ///
  /// - Returns: Why the entry was skipped, or `nil` if it was written.
  private func append(
    _ raw: RawResponse, number: Int64, to writer: any ResponseArchiveWriter,
    _ redaction: Redaction?, _ keys: inout Set<TextDigest>
  ) throws -> String? {
    guard isRedacted, let redaction else {
      return try writer.append(entry(raw, number: number, redaction))
    }
    // Nobody knows what an undecodable property list contains, so it cannot be passed on as free of
    // secrets.
    guard let (redacted, places) = redaction.redacted(raw) else {
      return "its property lists cannot be decoded and may contain secrets"
    }
    var entry = entry(redacted, number: number)
    redaction.note(entry.response)
    entry.redacted = places
    // Two URLs that differed only in a user name have one key without it. An archive with a key
    // twice could not be imported.
    if let key = entry.response.key, !keys.insert(TextDigest(key)).inserted {
      return "without secrets it has the same key as another entry"
    }
    return try writer.append(entry)
  }

  /// Decodes an entry.
  ///
  /// - Parameter redaction: Removes secrets from the decoded response; the raw columns stay unchanged.
  func entry(
    _ raw: consuming RawResponse, number: Int64, _ redaction: Redaction? = nil
  ) -> ExportedEntry {
    var response = StoredResponse(decoding: raw, .all)
    if let redaction { response = redaction.response(response) }
    var warnings =
      response.notes.map(\.message) + raw.synthesizedFields.map { "synthesized: \($0)" }
    if bodies == .none, let index = raw.parts.firstIndex(where: { $0.name == .body }) {
      raw.parts[index].content = nil
      warnings.append("the body was omitted")
    }
    return ExportedEntry(number: number, raw: raw, response: response, warnings: warnings)
  }
}

/// Writes entries to an archive, one after the other.
protocol ResponseArchiveWriter: AnyObject {
  /// Queues an entry that is not decoded yet, to write it later.
  ///
  /// - Parameter number: The number of the entry, starting at 1.
  /// - Returns: `false` if the caller must decode the entry and append it now, which is the default.
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool

  /// Writes an entry.
  ///
  /// - Returns: Why the entry was skipped: a clause without text from the cache, such as "it has no URL". `nil` if it
  ///   was written.
  /// - Throws: ``StoreError``, ``ArchiveError``, or any error from the consumer of the bytes.
  func append(_ entry: ExportedEntry) throws -> String?

  /// Finishes the archive.
  func finish(_ summary: ArchiveExport.Summary) throws
}

extension ResponseArchiveWriter {
  func enqueue(_ raw: RawResponse, number: Int64) throws -> Bool { false }
}
