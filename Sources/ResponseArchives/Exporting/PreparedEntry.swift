import Bytes
import Files
import ResponseStorage

/// An entry that is ready to be written to a native archive: its document, and the members that follow.
struct PreparedEntry: Sendable {
  /// A member that holds a part.
  struct Member: Sendable {
    var name: RawResponse.Part.Name
    var contents: Contents
  }

  /// What is in a member.
  enum Contents: Sendable {
    case bytes([UInt8])
    /// What is to be read once more, and must have that digest then.
    case unread(sha256: String)
  }

  /// The folder of the members, with a slash at its end.
  var folder: String
  var document: [UInt8]
  var members: [Member] = []
  /// The lines of the checksums for all of them, the document first.
  var checksums: [UInt8] = []

  /// Measures the parts of an entry, reading them if need be, and describes it.
  init(_ entry: ExportedEntry) throws {
    folder = NativeArchive.folder(entry.number)
    // A loop over the array would hold on to the bytes of each.
    let parts = entry.raw.parts.span
    var described: [EntryDocument.Member] = []
    described.reserveCapacity(parts.count)
    members.reserveCapacity(parts.count)
    for index in parts.indices {
      let (name, isText) = (parts[index].name, parts[index].isText)
      let (size, sha256): (ByteCount, String)
      switch parts[index].contents {
      case .null: continue
      case .bytes(let bytes):
        (size, sha256) = (ByteCount(bytes.count), Digest(of: bytes).hexadecimal)
        members.append(Member(name: name, contents: .bytes(bytes)))
      case .stream(let stream):
        size = stream.size
        // A body keeps what it reads, if it can be read only once.
        let body = name == .body ? entry.body : nil
        sha256 = try body?.digest() ?? stream.sha256 ?? stream.digest()
        members.append(Member(name: name, contents: .unread(sha256: sha256)))
      }
      described.append(.init(name: name, isText: isText, size: size, sha256: sha256))
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
