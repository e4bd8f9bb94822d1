import Archive
import Bytes
import Files
import ResponseStorage

/// Prepares the entries of a native archive on background threads.
final class EntryPreparation {
  /// A response whose parts are all in memory. It is safe to send to another thread: only a part that is read from
  /// the store is tied to one thread. The compiler cannot know that, hence `@unchecked`.
  private struct Task: @unchecked Sendable {
    let raw: RawResponse
    let number: Int64
  }

  private let threads: OrderedParallelMap<Task, Never, [PreparedEntry]>
  private let readsParts: Bool

  /// Starts the threads.
  init(for export: ArchiveExport, into container: ArchiveFormat) {
    readsParts = export.bodies != .none
    // Only for zip, entries are compressed here, which takes most of the time.
    threads = OrderedParallelMap("EntryPreparation", most: container == .zip ? 4 : 1) {
      let compressor =
        container == .zip ? try DeflateCompressor(level: export.level ?? 6) : nil
      return { batch, _ in
        try batch.map { task in
          var entry = export.entry(task.raw, number: task.number)
          return try PreparedEntry(
            &entry, compressor: compressor)
        }
      }
    }
  }

  /// Queues a response.
  ///
  /// - Returns: `false`, without queuing it, if a part of it is too large for memory.
  func add(_ raw: RawResponse, number: Int64) throws -> Bool {
    let largest = readsParts ? Body.largestInMemory : nil
    guard let raw = try raw.readingParts(upTo: largest) else { return false }
    threads.add(Task(raw: raw, number: number), byteCount: raw.byteCount)
    return true
  }

  /// Calls `body` with prepared entries, in the order in which they were queued.
  ///
  /// - Parameter all: Whether to wait for all of them. If `false`, waits only while too many entries are queued.
  func forEachPrepared(all: Bool, _ body: (borrowing PreparedEntry) throws -> Void) throws {
    try threads.forEachSummary(all: all) { entries in
      // A span avoids retaining and releasing everything in each entry.
      let span = entries.span
      for index in span.indices { try body(span[index]) }
    }
  }
}

extension RawResponse {
  /// Returns the response with all parts in memory; `nil` if one is too large for that.
  ///
  /// - Parameter largest: The size of the largest part that is read, in bytes; `nil` to read none.
  fileprivate func readingParts(upTo largest: ByteCount?) throws -> RawResponse? {
    var read: (index: Int, content: Body)?
    // A span avoids retaining and releasing the bytes of each part, as iterating over the array would.
    let parts = parts.span
    for index in parts.indices {
      guard let content = parts[index].content, content.bytes == nil else { continue }
      // Only a body is ever so large that it is not in memory.
      guard let largest, content.size <= largest, read == nil else { return nil }
      read = (index, try content.inMemory())
    }
    guard let read else { return self }
    var response = self
    response.parts[read.index].content = read.content
    return response
  }
}

/// An entry to export.
struct ExportedEntry {
  /// The number of the entry in the archive, starting at 1.
  var number: Int64

  /// The entry as stored. It contains all credentials, except in a redacted native archive.
  var raw: RawResponse

  /// The decoded entry, without the credentials that are to be removed.
  var response: StoredResponse

  /// The places in ``raw`` that credentials were removed from; only for a native archive.
  var redacted: [String] = []

  /// Warnings about the entry, for people.
  var warnings: [String]

  /// The body; `nil` if there is none or bodies are omitted.
  var body: Body? { raw.part(.body)?.content }
}

/// An entry that is ready to be written to a native archive: its document and the members that follow.
struct PreparedEntry: Sendable {
  /// The archive member of a part.
  struct Member: Sendable {
    var name: RawResponse.Part.Name
    /// The contents; `nil` if they are not in memory and must be read again from the entry.
    var contents: Contents?
  }

  /// The contents of a member in memory.
  enum Contents: Sendable {
    case bytes([UInt8])
    /// Compressed for a zip archive.
    case zipped(ZipMember)

    /// - Parameter compressor: What compresses them for a zip archive; `nil` to leave that to the archive.
    init(_ bytes: [UInt8], by compressor: DeflateCompressor?) {
      self = compressor.map { .zipped(ZipMember(bytes, by: $0)) } ?? .bytes(bytes)
    }
  }

  /// The folder of the members, with a trailing slash.
  var folder: String
  var document: Contents
  var members: [Member] = []
  /// The checksum lines of all members, starting with the document.
  var checksums: [UInt8] = []

  /// Measures the parts of an entry and writes its document.
  ///
  /// - Parameters:
  ///   - entry: The entry. Parts that are not in memory are read unless their digest is known, and replaced in the
  ///     entry by what must be written.
  ///   - compressor: What compresses the members for a zip archive; `nil` to leave that to the archive.
  init(
    _ entry: inout ExportedEntry, compressor: DeflateCompressor? = nil
  ) throws {
    folder = NativeArchive.folder(entry.number)
    let count = entry.raw.parts.count
    var described: [EntryDocument.Member] = []
    described.reserveCapacity(count)
    members.reserveCapacity(count)
    for index in 0..<count {
      let (name, isText) = (entry.raw.parts[index].name, entry.raw.parts[index].isText)
      guard var content = entry.raw.parts[index].content else { continue }
      if content.bytes == nil, content.sha256 == nil {
        content = try content.measured()
        entry.raw.parts[index].content = content
      }
      members.append(
        Member(name: name, contents: content.bytes.map { Contents($0, by: compressor) }))
      described.append(
        .init(name: name, isText: isText, size: content.size, sha256: try content.digest()))
    }
    let document = entry.document(of: described)
    self.document = Contents(document, by: compressor)
    checksums.reserveCapacity(128 * (1 + described.count))
    note(NativeArchive.documentName, Digest(of: document).hexadecimal)
    for member in described { note(member.name.memberName, member.sha256) }
  }

  private mutating func note(_ name: String, _ sha256: String) {
    NativeArchive.appendChecksum(sha256, of: name, in: folder, to: &checksums)
  }
}
