import Bytes
import Files
import ResponseStorage

/// An entry that is ready to be written to a native archive: its document, and the members that follow.
struct PreparedEntry: Sendable {
  /// A member that holds a part.
  struct Member: Sendable {
    var name: RawResponse.Part.Name
    /// What it contains; `nil` if that is not in memory, and is read once more from the entry.
    var bytes: [UInt8]?
  }

  /// The folder of the members, with a slash at its end.
  var folder: String
  var document: [UInt8]
  var members: [Member] = []
  /// The lines of the checksums for all of them, the document first.
  var checksums: [UInt8] = []

  /// Measures the parts of an entry, and describes it.
  ///
  /// - Parameters:
  ///   - entry: The entry. A part that is not in memory is read, unless its digest is known; then the entry has the
  ///     part as it must be when it is written.
  ///   - temporaryFolder: Where a large part is kept that can be read only once.
  init(_ entry: inout ExportedEntry, temporaryFolder: String) throws {
    folder = NativeArchive.folder(entry.number)
    let count = entry.raw.parts.count
    var described: [EntryDocument.Member] = []
    described.reserveCapacity(count)
    members.reserveCapacity(count)
    for index in 0..<count {
      let (name, isText) = (entry.raw.parts[index].name, entry.raw.parts[index].isText)
      guard var content = entry.raw.parts[index].content else { continue }
      if content.bytes == nil, content.sha256 == nil {
        content = try content.measured(keepingIn: temporaryFolder)
        entry.raw.parts[index].content = content
      }
      members.append(Member(name: name, bytes: content.bytes))
      described.append(
        .init(name: name, isText: isText, size: content.size, sha256: try content.digest()))
    }
    document = entry.document(of: described)
    checksums.reserveCapacity(128 * (1 + described.count))
    note(NativeArchive.documentName, Digest(of: document).hexadecimal)
    for member in described { note(member.name.memberName, member.sha256) }
  }

  private mutating func note(_ name: String, _ sha256: String) {
    NativeArchive.appendChecksum(sha256, of: name, in: folder, to: &checksums)
  }
}
