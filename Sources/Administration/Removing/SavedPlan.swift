import Bytes
import Files
public import JSON
public import ResponseStorage

/// A removal plan saved to a file, to be applied later.
public struct SavedPlan {
  /// The name of the format, at the beginning of the file.
  public static let schema = "urlcache-admin.plan/1"

  /// The absolute path of the store.
  public var path: String

  /// The format of the store.
  public var format: StoreDescription.Format

  /// The numbers that identify the store; empty if there are none.
  public var identity: [UInt64]

  /// The entries to remove, in ascending order of ids, as they were when the plan was made.
  public var entries: RemovalPlan.EntryList

  /// The orphans to remove, in ascending order of names, as they were when the plan was made.
  public var orphans: [OrphanFile]

  /// Whether to overwrite what is removed.
  public var isSecure = false

  /// Creates a plan to save.
  public init(
    path: String, format: StoreDescription.Format, identity: [UInt64],
    entries: RemovalPlan.EntryList, orphans: [OrphanFile] = []
  ) {
    self.path = path
    self.format = format
    self.identity = identity
    self.entries = entries
    self.orphans = orphans
  }

  /// Reads a plan.
  ///
  /// Unknown members are skipped: newer versions of the format only add members.
  ///
  /// - Throws: ``JSONError``, also for a document that is not a plan, or `FileError` if there is no room for its
  ///   entries.
  public init(reading json: inout JSONReader) throws {
    self.init(path: "", format: .apple, identity: [], entries: RemovalPlan.EntryList())
    var isPlan = false
    var read = RemovalPlan.EntryList.Writer()
    var last: StoredResponse.ID?
    var isSorted = true
    try json.object { json, name in
      switch name {
      case "schema": isPlan = try json.string() == Array(Self.schema.utf8)
      case "cache": try readCache(&json)
      // As text, because JavaScript and jq lose the lowest bits of numbers beyond 2^53, and users
      // pass plans through them.
      case "identity": try json.array { identity.append(try $0.numberInText()) }
      case "secure": isSecure = try json.boolean()
      case "entries":
        try json.array { json in
          let entry = try RemovalPlan.Entry(reading: &json)
          // A plan is compared with the store in one pass, which needs this order.
          if let last, entry.version.id <= last { isSorted = false }
          last = entry.version.id
          try read.append(entry)
        }
      case "orphans": try json.array { orphans.append(try OrphanFile(reading: &$0)) }
      default: try json.skip()
      }
    }
    try json.end()
    // Any JSON object could be read as a plan with nothing in it, and `apply` would report success.
    guard isPlan, !path.isEmpty else {
      throw JSONError("this is not a plan for a cache", at: json.offset)
    }
    guard isSorted else {
      throw JSONError("entries are not sorted by id", at: json.offset)
    }
    guard zip(orphans, orphans.dropFirst()).allSatisfy({ $0.name < $1.name }) else {
      throw JSONError("files are not sorted by name", at: json.offset)
    }
    entries = try read.finish()
  }

  private mutating func readCache(_ json: inout JSONReader) throws {
    try json.object { json, name in
      switch name {
      case "path": path = try json.text()
      case "format": format = try json.choice()
      default: try json.skip()
      }
    }
  }
}

extension RemovalPlan {
  /// Plans to remove the entries of a saved plan that have not changed, and its files.
  ///
  /// - Parameter pins: The entries that are kept although the plan removes them; they are counted in ``kept``.
  /// - Complexity: O(*n*), where *n* is the number of entries of the store.
  public init(
    applying saved: SavedPlan, to source: any ResponseSource, keeping pins: EntryNames
  ) throws {
    self.init(of: source.description)
    footprint = try source.footprint()
    // Both are in ascending order of ids, so one pass compares them.
    var rest = saved.entries.makeReader()
    var wanted = try rest.next()
    var unchanged = EntryList.Writer()
    var pinned = KeptEntries()
    // A plan can be applied to a copy, such as a restored backup, in which every file has another
    // inode.
    let isCopy = store.identity != saved.identity
    try source.scan(pins.projection.union([.key, .stored, .file])) { response in
      storedEntries += 1
      while let entry = wanted, entry.version.id < response.id { wanted = try rest.next() }
      if var entry = wanted, entry.version.isStill(response, inCopy: isCopy) {
        // In a copy of the store, files have other numbers than in the plan.
        entry.version.file = response.file
        if pins.contains(response) {
          pinned.insert(entry.size)
        } else {
          try unchanged.append(entry)
        }
      }
      return .next
    }
    entries = try unchanged.finish()
    if pinned.entries > 0 { kept[.pinned] = pinned }
    // Each file is compared when it is removed, while no other process writes.
    orphans = saved.orphans
  }
}

extension ResponseVersion {
  /// Whether a response is unchanged since this version was recorded.
  ///
  /// - Parameter inCopy: Whether it is in a copy of the store, where files have other inode numbers.
  public func isStill(_ response: borrowing StoredResponse, inCopy: Bool = false) -> Bool {
    guard id == response.id, key == response.key else { return false }
    // The key and the stored time identify a row, because storing a response again changes the
    // time. Foundation replaces the file instead, which may keep its name within a second.
    guard case .file = id else { return stored == response.stored }
    // A version that an import or a refresh compares with has no time, which is in the file.
    guard stored == nil || stored == response.stored, let file, let found = response.file else {
      return false
    }
    return inCopy ? found.isLike(file) : found == file
  }
}

extension RemovalPlan.Entry {
  fileprivate init(reading json: inout JSONReader) throws {
    let place = json.offset
    var id: StoredResponse.ID?
    var (key, url): (ByteString?, ByteString?)
    var (stored, size): (Timestamp?, ByteCount?)
    var hasBodyFile = false
    var file: FileVersion?
    var reason = RemovalPlan.Reason.selected
    try json.object { json, name in
      switch name {
      // Ids, keys and URLs need not be UTF-8, and are then in Base64.
      case "id", "id_base64": id = try json.responseID(named: name) ?? id
      case "key", "key_base64": key = try json.bytes(named: name) ?? key
      case "url", "url_base64": url = try json.bytes(named: name) ?? url
      case "stored_seconds":
        stored = try json.null() ? nil : Timestamp(secondsSince1970: try json.number())
      case "size": size = try json.null() ? nil : ByteCount(try json.integer())
      case "body_file": hasBodyFile = try json.boolean()
      case "file": file = try FileVersion(reading: &json)
      case "reason": reason = try json.choice()
      default: try json.skip()
      }
    }
    guard let id else { throw JSONError("an entry has no id", at: place) }
    self.init(
      version: ResponseVersion(id: id, key: key, stored: stored, file: file), url: url, size: size,
      hasBodyFile: hasBodyFile, reason: reason)
  }
}

extension OrphanFile {
  fileprivate init(reading json: inout JSONReader) throws {
    self.init(name: "", size: 0, modified: 0)
    try json.object { json, name in
      switch ByteString(name) {
      case "name": self.name = try json.text()
      case "size": size = ByteCount(try json.integer())
      case "modified_ns": modified = try json.numberInText()
      default: try json.skip()
      }
    }
  }
}

extension FileVersion {
  fileprivate init?(reading json: inout JSONReader) throws {
    guard try !json.null() else { return nil }
    self.init(number: 0, modified: 0, size: 0)
    try json.object { json, name in
      switch name {
      case "number": number = try json.numberInText()
      case "modified_ns": modified = try json.numberInText()
      case "bytes": size = ByteCount(try json.integer())
      default: try json.skip()
      }
    }
  }
}

extension JSONReader {
  fileprivate mutating func text() throws -> String {
    let place = offset
    guard let text = String(validating: try string(), as: UTF8.self) else {
      throw JSONError("the text is not UTF-8", at: place)
    }
    return text
  }

  /// Reads one of the words of a type.
  fileprivate mutating func choice<Choice: RawRepresentable<String>>() throws -> Choice {
    let place = offset
    guard let choice = Choice(rawValue: try text()) else {
      throw JSONError("unknown value", at: place)
    }
    return choice
  }

  fileprivate mutating func numberInText<Number: FixedWidthInteger>() throws -> Number {
    let place = offset
    guard let number = Number(try text()) else { throw JSONError("expected a number", at: place) }
    return number
  }

  /// Reads a row number, a file name, or `null`.
  fileprivate mutating func responseID(named name: [UInt8]) throws -> StoredResponse.ID? {
    if try isString() { return try bytes(named: name).map { .file($0) } }
    return try null() ? nil : .row(try integer())
  }

  /// Reads text or `null`; Base64 if the name of the member ends in `_base64`.
  fileprivate mutating func bytes(named name: [UInt8]) throws -> ByteString? {
    if try null() { return nil }
    let place = offset
    let text = try string()
    guard name.suffix(7) == Array("_base64".utf8)[...] else { return ByteString(text) }
    guard let bytes = Base64.decode(text) else { throw JSONError("invalid Base64", at: place) }
    return ByteString(bytes)
  }
}
