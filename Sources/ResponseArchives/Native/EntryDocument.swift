import Bytes
import JSON
import ResponseStorage

/// The machine-readable part of an entry's document: all columns, and the sizes and digests of the members that
/// follow.
///
/// ``ExportedEntry/document(of:)`` writes it, with more for people.
struct EntryDocument {
  /// The archive member of a part.
  struct Member: Hashable {
    var name: RawResponse.Part.Name
    var isText: Bool
    var size: ByteCount
    var sha256: String
  }

  /// The response.
  var raw: RawResponse
  /// The members that follow, in order.
  var members: [Member]
  /// The places that were redacted, for people.
  var redacted: [String] = []
}

extension EntryDocument {
  /// Reads the document of an entry: its columns and the members that follow.
  ///
  /// Members that are informational or unknown are ignored. The parts of the response have no content yet.
  ///
  /// - Throws: ``JSONError``, also for a document that does not describe an entry.
  init(reading bytes: [UInt8]) throws {
    var json = JSONReader(bytes)
    self.init(raw: RawResponse(id: 0), members: [])
    try json.object { json, name in
      switch name {
      case "row": try readRow(&json)
      case "members": try readMembers(&json)
      case "redacted":
        try json.array { redacted.append(String(decoding: try $0.string(), as: UTF8.self)) }
      default: try json.skip()
      }
    }
    try json.end()
    guard case .integer(let id) = raw.value(of: "entry_ID") else {
      throw JSONError("the entry has no entry_ID", at: json.offset)
    }
    raw.id = id
    let order = RawResponse.Part.Name.allCases
    raw.parts.sort { order.firstIndex(of: $0.name) ?? 0 < order.firstIndex(of: $1.name) ?? 0 }
    members.sort { order.firstIndex(of: $0.name) ?? 0 < order.firstIndex(of: $1.name) ?? 0 }
  }

  private mutating func readRow(_ json: inout JSONReader) throws {
    // JSON readers disagree on which of two equal members counts. An archive that two programs
    // would read in two ways is refused.
    guard raw.columns.isEmpty else { throw JSONError("duplicate row", at: json.offset) }
    var names = Set<String>(minimumCapacity: 8)
    try json.object { json, name in
      let place = json.offset
      let name = String(decoding: name, as: UTF8.self)
      guard names.insert(name).inserted else { throw JSONError("duplicate column", at: place) }
      raw.columns.append(.init(name, try json.columnValue(of: name)))
    }
  }

  private mutating func readMembers(_ json: inout JSONReader) throws {
    guard raw.parts.isEmpty else { throw JSONError("duplicate list of members", at: json.offset) }
    try json.object { json, name in
      let place = json.offset
      guard let name = RawResponse.Part.Name(rawValue: String(decoding: name, as: UTF8.self)) else {
        return try json.skip()
      }
      guard raw.part(name) == nil else { throw JSONError("duplicate member", at: place) }
      raw.parts.append(.init(name, nil))
      if try json.null() { return }
      members.append(try readMember(name, &json))
    }
  }

  private mutating func readMember(
    _ name: RawResponse.Part.Name, _ json: inout JSONReader
  ) throws -> Member {
    let place = json.offset
    var (fileName, sha256): ([UInt8], [UInt8]) = ([], [])
    var size: ByteCount = -1
    var isText = false
    try json.object { json, key in
      switch key {
      case "name": fileName = try json.string()
      case "sha256": sha256 = try json.string()
      case "size": size = ByteCount(try json.integer())
      case "class": isText = try json.string() == Array("text".utf8)
      case "on_fs": raw.hasBodyFile = try json.boolean()
      default: try json.skip()
      }
    }
    // Capital letters would be the same digest, but then `sha256sum` and this program would compare
    // two different lines.
    let isDigest =
      sha256.count == 64
      && sha256.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    // Member names are fixed. A document that could choose them could make two entries share a
    // member, or a name look like a path.
    guard fileName == Array(name.memberName.utf8), size >= 0, isDigest else {
      throw JSONError("incomplete description of a member", at: place)
    }
    return Member(
      name: name, isText: isText, size: size, sha256: String(decoding: sha256, as: UTF8.self))
  }
}

extension JSONReader {
  /// Reads a value written by ``JSONWriter/value(_:of:)``.
  fileprivate mutating func columnValue(of column: String) throws -> RawResponse.Value {
    if try null() { return .null }
    let place = offset
    if try isString() {
      let text = try string()
      guard JSONWriter.columnsOfLongIntegers.contains(column) else {
        return .text(ByteString(text))
      }
      guard let number = Int64(String(decoding: text, as: UTF8.self)) else {
        throw JSONError("expected an integer", at: place)
      }
      return .integer(number)
    }
    guard try isObject() else { return .integer(try integer()) }
    var value: RawResponse.Value?
    try object { json, kind in
      let text = try json.string()
      switch kind {
      case "integer": value = Int64(String(decoding: text, as: UTF8.self)).map { .integer($0) }
      case "real": value = Double(String(decoding: text, as: UTF8.self)).map { .real($0) }
      case "text_b64": value = Base64.decode(text).map { .text(ByteString($0)) }
      case "blob_b64": value = Base64.decode(text).map { .blob($0) }
      default: throw JSONError("unknown class", at: place)
      }
    }
    guard let value else { throw JSONError("the value does not match its class", at: place) }
    return value
  }
}
