import Bytes
import Files
import SQLitePages

/// The entries that a cache no longer shows, read like a store.
///
/// They are found in the pages of its database, in its log and in its journal, without SQLite. Nothing is written.
final class RecoveredStore: RemovedEntries {
  /// What is known of a recovered entry, besides its rows.
  struct Fact: Hashable, Sendable {
    /// The id in this source. It is the one that the entry had in the cache, or a number after all of those if the id is
    /// overwritten or another version has it.
    var id: StoredResponse.ID
    /// The id that the entry had in the cache, if it is known.
    var entryID: Int64?
    /// How much was recovered.
    var confidence: RecoveryConfidence
    /// Where it was found.
    var place: RecoveredPlace
    /// Whether the cache has a newer version of it.
    var isOlderVersion: Bool
  }

  /// An entry with its rows.
  struct Entry {
    var fact: Fact
    var rows: RecoveryJoining.Joined
    var stored: Double
    /// The last state of the database that had it.
    var to: Int64

    /// The key, as far as a row has it.
    var key: ByteString? {
      rows.response?.text ?? rows.key?.text ?? rows.blob?.text.map { AppleCacheKey(of: $0).text }
    }
  }

  let images: PageImages
  let reader: RowReader
  let entries: RecoveredEntries
  let bodies: AppleBodyFiles
  private let options: RemovedEntriesOptions
  // It holds the locks under which the files are read.
  private(set) var store: AppleStore?

  let description: StoreDescription
  let damage: StoreError?
  /// Whether the file is a database, or has anything of a cache; any file could be given as a damaged one.
  let isDatabase: Bool

  var searched: String? {
    isDatabase
      ? "searched the database, its log and its journal. 'purge' and 'enforce' overwrite the rows"
        + " that they delete, and new entries use the space of old ones" : nil
  }

  /// Looks for the entries of the store at a path.
  ///
  /// - Parameters:
  ///   - opening: How to open the cache.
  ///   - options: What to look for.
  /// - Throws: ``StoreError``, or an error of a temporary file.
  init(_ opening: StoreOpening, _ options: RemovedEntriesOptions) throws {
    self.options = options
    let files = try AppleStoreFiles(at: opening.path)
    do {
      store = try AppleStore(opening)
      damage = nil
    } catch let error as StoreError {
      let isReadable = [.damaged, .notACache, .unfinished].contains(error.code)
      guard options.isDamaged, isReadable else { throw error }
      damage = error
      store = nil
    }
    images = try PageImages(
      files, isDamaged: options.isDamaged,
      copiesLog: store?.description.inUse == true)
    let rows = try FoundRows()
    let scan = RecoveryScan(images, into: rows, isDamaged: options.isDamaged)
    try scan.run()
    try scan.markPresent()
    reader = scan.reader
    reader.forgetBodies()
    isDatabase = try images.hasHeader || !rows.isEmpty()
    entries = try RecoveredEntries()
    bodies = AppleBodyFiles(at: files.bodies)
    description = StoreDescription(
      path: opening.path, format: .apple, schemaVersion: store?.description.schemaVersion,
      identity: try files.state().database.identity,
      rawPropertyLists: ["response_object", "request_object", "proto_props", "user_info"],
      notes: store?.description.notes ?? [])
    try rows.forEachGroup { try add($0, liveKeys: scan.liveKeys) }
    try entries.number(withVersions: options.withVersions)
    try images.verifyUnchanged()
  }

  /// Looks for the entries of a store, again if an app changes it meanwhile.
  ///
  /// - Throws: ``StoreError``, or an error of a temporary file.
  static func find(
    in opening: StoreOpening, _ options: RemovedEntriesOptions
  ) throws -> RecoveredStore {
    for _ in 0..<3 {
      do { return try RecoveredStore(opening, options) } catch let error as StoreError {
        if error.code != .changedWhileReading { throw error }
      }
    }
    return try RecoveredStore(opening, options)
  }

  deinit {
    // SQLite's locks first: closing any descriptor of the database drops them.
    store = nil
  }

  func fact(of id: StoredResponse.ID) throws -> RecoveredFact? {
    try entries.entry(id).map {
      RecoveredFact(id: id, confidence: $0.fact.confidence, place: $0.fact.place.words)
    }
  }

  /// Adds the entries that rows with one id belong to.
  private func add(_ group: FoundRows.Group, liveKeys: Set<ByteString.Hash>) throws {
    for rows in RecoveryJoining(group.rows).entries {
      let found = rows.rows
      // SQLite shows the response, even if another row of the entry has changed.
      if group.isShown, rows.blob?.isLive == true { continue }
      guard let first = found.first(where: { !$0.isLive }) ?? found.first else { continue }
      // SQLite shows it as it is.
      if found.allSatisfy(\.isLive) { continue }
      var entry = Entry(
        fact: Fact(
          id: .row(0), entryID: found.lazy.compactMap(\.id).first, confidence: .onlyURL,
          place: (rows.blob.flatMap { $0.isLive ? nil : $0 } ?? first).place,
          isOlderVersion: found.contains(where: \.isLive)),
        rows: rows, stored: rows.blob?.stored ?? first.stored, to: found.map(\.to).max() ?? 0)
      if let key = entry.key, liveKeys.contains(key.digest) { entry.fact.isOlderVersion = true }
      // A key that is left in an index says nothing new of an entry that the cache has.
      if rows.blob == nil, entry.fact.isOlderVersion { continue }
      if rows.blob != nil {
        let hasBody = try hasBody(rows)
        entry.fact.confidence =
          !hasBody ? .bodyMissing : rows.isBodyCertain ? .complete : .bodyUncertain
        if !hasBody || !rows.isBodyCertain && !options.withUncertainBodies {
          entry.rows.body = nil
        }
      }
      try entries.append(entry)
    }
  }

  /// Whether the body of an entry is still there, and can be the one that its property lists describe.
  private func hasBody(_ joined: RecoveryJoining.Joined) throws -> Bool {
    guard let row = joined.body, let body = try body(of: row) else { return false }
    // The length of a file is known only now.
    guard body.isFile, let blob = joined.blob,
      !joined.isBodyCertain || row.from != blob.from, let size = blob.bodySize
    else { return true }
    return body.body.size == size
  }
}

// The rows of an entry, read again in the columns of a store.
extension RecoveredStore {
  /// Returns an entry in the columns of its rows.
  func raw(_ entry: Entry) throws -> RawResponse {
    guard case .row(let id) = entry.fact.id else { return RawResponse(id: 0) }
    var raw = RawResponse(id: id)
    raw.columns.append(.init("entry_ID", .integer(id)))
    if let row = entry.rows.response, let content = try reader.content(row) {
      for name in content.columns.dropFirst() {
        if let value = content.value(name) { raw.columns.append(.init(name, value)) }
      }
    } else {
      synthesizeKey(of: entry, in: &raw)
    }
    if let row = entry.rows.blob, let content = try reader.content(row) {
      raw.append(content)
    }
    guard let row = entry.rows.body else { return raw }
    let body = try body(of: row)
    raw.hasBodyFile = body?.isFile ?? false
    raw.parts.removeAll { $0.name == .body }
    raw.parts.append(.init(.body, body?.body))
    let isFlagged = row.shape == AppleRecordShapes.flaggedBody
    if isFlagged { raw.columns.append(.init("isDataOnFS", .integer(raw.hasBodyFile ? 1 : 0))) }
    return raw
  }

  /// Adds the key and the time of an entry whose row in the table of keys is lost, as far as its other rows have them.
  private func synthesizeKey(of entry: Entry, in raw: inout RawResponse) {
    guard let key = entry.key else { return }
    raw.columns += [
      .init("version", .integer(0)),
      .init("hash_value", .integer(CacheKeyHash(of: key).whenInserted)),
      .init("storage_policy", .integer(0)), .init("request_key", .text(key)),
    ]
    if entry.rows.key == nil { raw.synthesizedFields.append("the key, from the request") }
    guard let time = Timestamp(secondsSince1970: entry.stored) else { return }
    raw.columns.append(.init("time_stamp", .text(ByteString(AppleStoreWriter.text(of: time)))))
    raw.synthesizedFields.append("the first-stored time, from the time it was last stored")
  }

  /// Returns a body; `nil` if it is lost.
  func body(of row: FoundRow) throws -> (body: Body, isFile: Bool)? {
    guard let content = try reader.content(row, upTo: 0),
      let range = content.range(of: "receiver_data")
    else { return nil }
    if case .integer(let flag)? = content.value("isDataOnFS"), flag > 0 {
      guard case .text(let name)? = content.value("receiver_data") else { return nil }
      do throws(StoreError) {
        let size = try bodies.open(name).size
        return (Body(size: size) { [self] in try bodies.open(name) }, true)
      } catch {
        return nil
      }
    }
    if range.upperBound <= content.bytes.count {
      return (Body(Array(content.bytes[range])), false)
    }
    // The pages are noted, and read again when the body is.
    var pieces: [(image: PageImages.Image, range: Range<Int>)] = []
    let isComplete = try reader.forEachOverflow(
      of: row.payload, at: row.image.time, row.hasKnownTime ? .row : .remains
    ) { image, _, range in
      pieces.append((image, range))
      return true
    }
    // In the smallest pages, a long header leaves nothing of the body in the page itself.
    guard isComplete, range.lowerBound <= content.bytes.count else { return nil }
    let start = Array(content.bytes[range.lowerBound...])
    let open = { [images] () -> BodyReader in
      var (pending, next) = (start, 0)
      var page: [UInt8] = []
      return BodyReader(size: ByteCount(range.count)) { buffer in
        while pending.isEmpty, next < pieces.count {
          guard try images.read(pieces[next].image, into: &page) else { return 0 }
          pending = Array(page[pieces[next].range])
          next += 1
        }
        let count = min(pending.count, buffer.count)
        buffer.replaceSubrange(0..<count, with: pending[..<count])
        pending.removeFirst(count)
        return count
      }
    }
    return (Body(size: ByteCount(range.count), opening: open), false)
  }
}

extension AppleRecordShapes {
  /// The shape of a body that can be in a file.
  static let flaggedBody = all.firstIndex { $0.columns.contains("isDataOnFS") }
}

// Reading like a store.
extension RecoveredStore {
  var rawLayout: RawLayout {
    get throws { try store?.rawLayout ?? AppleSchema.version203.rawLayout }
  }

  func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try entries.forEach { try body(StoredResponse(decoding: raw($0), projection)) }
  }

  func response(
    _ id: StoredResponse.ID, _ projection: Projection
  ) throws -> StoredResponse? {
    guard let entry = try entries.entry(id) else { return nil }
    return StoredResponse(decoding: try raw(entry), projection)
  }

  func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try entries.forEach { entry in
      let raw = try raw(entry)
      guard try isWanted(StoredResponse(decoding: raw, projection)) else { return .next }
      return try body(raw)
    }
  }

  func count() -> Int64 { entries.count }

  func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let row = try entries.entry(id)?.rows.body, let body = try body(of: row) else {
      throw StoreError(.noSuchResponse, at: description.path, because: "its body is lost")
    }
    var reader = try body.body.makeReader()
    try read(&reader)
  }

  func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    guard description.rawPropertyLists.contains(name),
      let row = try entries.entry(id)?.rows.blob,
      case .blob(let bytes)? = try reader.content(row)?.value(name)
    else { return nil }
    return bytes
  }

  func footprint() throws -> Footprint { try store?.footprint() ?? Footprint() }

  func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {}

  func finish() throws {
    try store?.finish()
    try images.verifyUnchanged()
  }
}

extension AppleSchema {
  /// The layout of a store with this schema.
  fileprivate var rawLayout: RawLayout {
    RawLayout(
      userVersion: self == .version203 ? rawValue : 0,
      versionInTable: self == .version202 ? rawValue : nil, encoding: "UTF-8",
      tables: [
        .init(AppleLayout.blobs, columns: ["entry_ID"] + Self.listColumns),
        .init(AppleLayout.bodies, columns: ["entry_ID", "isDataOnFS", "receiver_data"]),
        .init(AppleLayout.responses, columns: ["entry_ID"] + Self.rawResponseColumns),
      ])
  }

  private static let listColumns = [
    "response_object", "request_object", "proto_props", "user_info",
  ]
}
