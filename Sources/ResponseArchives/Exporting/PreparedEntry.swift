import Archive
import Bytes
import Files
import ResponseStorage

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
  ///   - temporaryFolder: The folder for a copy of a large part that can be read only once.
  ///   - compressor: What compresses the members for a zip archive; `nil` to leave that to the archive.
  init(
    _ entry: inout ExportedEntry, temporaryFolder: String, compressor: DeflateCompressor? = nil
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
        content = try content.measured(keepingIn: temporaryFolder)
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
