import Files
import ResponseStorage

/// An entry that is ready to be written to a native archive: its document, and the members that follow.
struct PreparedEntry: Sendable {
  /// A member that holds a part, with its bytes; without, if they are to be read once more.
  struct Member: Sendable {
    var name: String
    var description: EntryDocument.Member
    var bytes: [UInt8]?
  }

  /// The name of the document.
  var documentName: String
  var document: [UInt8]
  /// The SHA-256 digest of the document.
  var documentSHA256: String
  var members: [Member]

  /// Measures the parts of an entry, reading them if need be, and describes it.
  init(_ entry: ExportedEntry) throws {
    let folder = NativeArchive.folder(entry.number)
    members = try entry.raw.parts.compactMap { part in
      let sha256 = try part.name == .body ? entry.body?.digest() : part.digest()
      guard let size = part.size, let sha256 else { return nil }
      var bytes: [UInt8]?
      if case .bytes(let all) = part.contents { bytes = all }
      return Member(
        name: "\(folder)/\(part.name.memberName)",
        description: .init(name: part.name, isText: part.isText, size: size, sha256: sha256),
        bytes: bytes)
    }
    document =
      EntryDocument(
        raw: entry.raw, members: members.map(\.description), decoded: entry.response,
        redacted: entry.redacted, warnings: entry.warnings
      ).json
    documentName = "\(folder)/\(NativeArchive.documentName)"
    documentSHA256 = Digest(of: document).hexadecimal
  }
}
