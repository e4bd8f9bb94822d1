import Archive
public import Bytes
public import ResponseStorage

/// The writing of entries to an archive.
///
/// The sizes and digests of an entry stand before its bytes. So what is long is read twice: first for
/// those, and then for the bytes themselves, whose digest is compared. What is in memory does not grow with
/// the store.
public struct ArchiveExport: Sendable {
  /// What was written.
  public struct Summary: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sizes of their bodies, in bytes.
    public var bodyBytes: ByteCount = 0
    /// The number of entries whose body the store does not have.
    public var missingBodies: Int64 = 0
    /// The entries that were left out: the store cannot give them, or the format cannot hold them.
    public var omissions: [ArchiveOmission] = []
    /// What was made up, as the store does not know it: a clause, with the number of the entries.
    public var inventions: [String: Int64] = [:]
    /// What was left out of the entries as it may be secret; `nil` if nothing was to be.
    public var redaction: Redaction.Tally?
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
  public var omitsBodies = false
  /// The longest body that is exported, in bytes; an entry with a longer one is left out. By default it is as long
  /// as a tar archive can hold.
  public var longestBody = ByteCount(8 << 30)
  /// What leaves credentials out; `nil` if they are exported.
  public var credentials: CredentialFilter?
  /// Where checksums, and bodies that are read only once, are kept meanwhile.
  public var temporaryFolder: String

  /// Creates an export, without credentials unless the format is there to keep everything.
  public init(_ format: ExportFormat, generatorVersion: String, temporaryFolder: String) {
    self.format = format
    self.generatorVersion = generatorVersion
    self.temporaryFolder = temporaryFolder
    credentials = format.isNative ? nil : CredentialFilter()
  }

  /// Writes the entries that are wanted.
  ///
  /// - Parameters:
  ///   - projection: What to decode for `isWanted`.
  ///   - isWanted: Whether to write an entry.
  ///   - write: Takes the next bytes of the archive; none now and then where none come for long, so that it
  ///     can end the export by an error.
  /// - Throws: ``StoreError``, ``ResponseArchiveError``, or whatever the closures throw.
  public func run(
    on source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool,
    writing write: @escaping ([UInt8]) throws -> Void
  ) throws -> Summary {
    do {
      let writer = try format.makeWriter(for: self, of: source.rawLayout, writing: write)
      return try run(on: source, projection, where: isWanted, into: writer)
    } catch let error as ArchiveError {
      throw ResponseArchiveError(.cannotWrite, "the archive cannot be written: \(error)")
    }
  }

  /// Writes the entries that are wanted as files of a folder.
  ///
  /// - Throws: ``StoreError``, or whatever the closure or the folder throws.
  public func run(
    on source: any ResponseSource, _ projection: Projection,
    where isWanted: (borrowing StoredResponse) throws -> Bool, into folder: any ExportFolder
  ) throws -> Summary {
    try run(
      on: source, projection, where: isWanted, into: FilesExport(for: self, in: folder))
  }

  /// Passes the entries that are wanted to a writer.
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
      if let reason = obstacle(to: raw) {
        summary.omissions.add(reason)
        return .next
      }
      let number = summary.entries + 1
      // What credentials are taken from may have to stay out, which shows only then.
      if try isRedacted || !writer.enqueue(raw, number: number),
        let reason = try append(raw, number: number, to: writer, redaction, &keys)
      {
        summary.omissions.add(reason)
        return .next
      }
      summary.entries += 1
      for invention in raw.inventions { summary.inventions[invention, default: 0] += 1 }
      if let size = raw.bodySize {
        if !omitsBodies { summary.bodyBytes += size }
      } else {
        summary.missingBodies += 1
      }
      return .next
    }
    summary.redaction = redaction?.tally
    try writer.finish(summary)
    return summary
  }

  /// Why the body of an entry is not exported, so that the entry is left out: a clause.
  private func obstacle(to raw: RawResponse) -> String? {
    guard !omitsBodies, let body = raw.part(.body)?.content else { return nil }
    if body.size > longestBody { return "its body is larger than '--max-body'" }
    return body.isSparse ? Self.isSparse : nil
  }

  /// What is said of a body that is left out as it is hardly there.
  public static let isSparse =
    "its body is a sparse file, which is far longer than what was written to it"

  /// Whether credentials are left out of what otherwise keeps all of an entry.
  private var isRedacted: Bool { format.isNative && credentials != nil }

  /// Decodes an entry, and writes it without its credentials if they are to be left out.
  ///
  /// - Returns: Why it is not written, if so.
  private func append(
    _ raw: RawResponse, number: Int64, to writer: any ResponseArchiveWriter,
    _ redaction: Redaction?, _ keys: inout Set<TextDigest>
  ) throws -> String? {
    guard isRedacted, let redaction else {
      return try writer.append(entry(raw, number: number, redaction))
    }
    guard let (redacted, places) = redaction.redacted(raw) else {
      return "its property lists cannot be decoded, and may contain secrets"
    }
    var entry = entry(redacted, number: number)
    redaction.note(entry.response)
    entry.redacted = places
    if let key = entry.response.key, !keys.insert(TextDigest(key)).inserted {
      return "without secrets it has the key of another"
    }
    return try writer.append(entry)
  }

  /// Decodes an entry.
  ///
  /// - Parameter redaction: What leaves secrets out of the decoded response; the columns are kept as they are.
  func entry(
    _ raw: consuming RawResponse, number: Int64, _ redaction: Redaction? = nil
  ) -> ExportedEntry {
    var response = StoredResponse(decoding: raw, .all)
    if let redaction { response = redaction.response(response) }
    var warnings = response.notes.map(\.message) + raw.inventions.map { "made up: \($0)" }
    if omitsBodies, let index = raw.parts.firstIndex(where: { $0.name == .body }) {
      raw.parts[index].content = nil
      warnings.append("the body was left out")
    }
    return ExportedEntry(number: number, raw: raw, response: response, warnings: warnings)
  }
}
