public import Bytes
import PropertyLists
import SQLite

/// The statements that insert responses into an Apple store, within one transaction.
final class AppleInsertion: RawResponseInsertion {
  private let path: String
  private var standing: Statement
  private var isTaken: Statement
  private var removals: AppleRowRemoval
  private var response: Statement
  private var blobs: Statement
  private var bodies: Statement
  private var lastID: Statement
  private var unusedID: Statement

  /// The names of the body files of replaced responses.
  private(set) var replacedFiles: [ByteString] = []

  init(_ connection: borrowing Connection, path: String) throws(SQLiteError) {
    self.path = path
    // LEFT JOINs, because a hostile or half-written response may lack a row in one of the other
    // tables. With the inner join that CFNetwork uses for its lookups, such a response would seem
    // to be absent, and the insertion would then fail because `request_key` is UNIQUE.
    standing = try connection.prepare(
      """
      SELECT r.entry_ID, b.response_object, CASE WHEN d.isDataOnFS > 0 THEN d.receiver_data END
      FROM \(AppleLayout.responses) r LEFT JOIN \(AppleLayout.blobs) b USING (entry_ID)
      LEFT JOIN \(AppleLayout.bodies) d USING (entry_ID) WHERE r.request_key = ?1
      """)
    // All three tables: a leftover row in one of them would become part of the new response.
    isTaken = try connection.prepare(
      """
      SELECT EXISTS (SELECT 1 FROM \(AppleLayout.responses) WHERE entry_ID = ?1)
        OR EXISTS (SELECT 1 FROM \(AppleLayout.blobs) WHERE entry_ID = ?1)
        OR EXISTS (SELECT 1 FROM \(AppleLayout.bodies) WHERE entry_ID = ?1)
      """)
    removals = try AppleRowRemoval(connection)
    response = try connection.prepare(AppleSchema.rawResponseInsertion)
    blobs = try connection.prepare(AppleSchema.blobInsertion)
    bodies = try connection.prepare(AppleSchema.bodyInsertion)
    lastID = try connection.prepare("SELECT last_insert_rowid()")
    // For a response without a row in the response table, whose AUTOINCREMENT assigns the other ids.
    unusedID = try connection.prepare(
      """
      SELECT 1 + max((SELECT coalesce(max(entry_ID), 0) FROM \(AppleLayout.responses)),
        (SELECT coalesce(max(entry_ID), 0) FROM \(AppleLayout.blobs)),
        (SELECT coalesce(max(entry_ID), 0) FROM \(AppleLayout.bodies)))
      """)
  }

  func insert(
    _ raw: RawResponse, staged: ByteString?, replacing replaced: ResponseVersion?
  ) throws -> Bool {
    let (there, file) = try raw.text("request_key").map(response(forKey:)) ?? (nil, nil)
    // Since the plan was made, another process has stored or removed a response with this key.
    guard there == replaced else { return false }
    var id: Int64? = raw.id > 0 ? raw.id : nil
    // The old rows are deleted before the new ones are inserted, as both have the same key and the
    // column is UNIQUE. Updating the rows instead, as CFNetwork does, would keep old values in
    // columns that the archive does not have.
    if let there, case .row(let row) = there.id {
      try removals.remove(row)
      // The file is only noted here. Until the commit, a rollback brings the row back, and with it
      // the need for the file.
      if let file { replacedFiles.append(file) }
      // It keeps its id. With the archived one, another response could get the id that is free then, and a backup of what
      // was replaced would not be restored as it was.
      id = row
    } else if try id.map({ try isFree($0) }) != true {
      id = nil
    }
    // If the archive has no row of the response in a table, neither has the store.
    let row = raw.hasResponseRow ? try insertResponse(raw, as: id) : try id ?? unused()
    if RawResponse.Part.Name.allCases.dropLast().contains(where: { raw.part($0) != nil }) {
      try insertBlobs(raw, as: row)
    }
    if raw.part(.body) != nil { try insertBody(raw, staged, as: row) }
    return true
  }

  /// Returns the response currently stored under `key`, and the name of its body file.
  private func response(
    forKey key: ByteString
  ) throws(SQLiteError) -> (ResponseVersion?, file: ByteString?) {
    standing.reset()
    try standing.bind(text: key.bytes, at: 1)
    defer { standing.reset() }
    guard try standing.step() else { return (nil, nil) }
    let id = StoredResponse.ID.row(standing.integer(at: 0))
    var found = StoredResponse(id: id)
    var memory = StoredResponse.SpareMemory()
    if standing.type(at: 1) != .null {
      // A response that cannot be decoded has no known time, now as when it was first read.
      standing.withBytes(at: 1) { bytes in
        try? found.decodeResponseObject(bytes, .stored, reusing: &memory)
      }
    }
    let file = standing.type(at: 2) == .null ? nil : ByteString(standing.bytes(at: 2))
    return (ResponseVersion(id: id, key: key, stored: found.stored), file)
  }

  private func isFree(_ id: Int64) throws(SQLiteError) -> Bool {
    try isTaken.restart(for: id)
    defer { isTaken.reset() }
    return try isTaken.step() && isTaken.integer(at: 0) == 0
  }

  /// Returns an id that no row has in any table.
  // Adding 1 to the largest possible id gives a real number in SQLite, which reads as the largest
  // integer. That id is taken, so the insertion fails and is rolled back.
  private func unused() throws(SQLiteError) -> Int64 {
    unusedID.reset()
    defer { unusedID.reset() }
    return try unusedID.step() ? unusedID.integer(at: 0) : 1
  }

  private func insertResponse(_ raw: RawResponse, as id: Int64?) throws(SQLiteError) -> Int64 {
    response.reset()
    // A `nil` id is bound as NULL, for which SQLite assigns the next id of the AUTOINCREMENT table.
    // Such an id was never used before ("SQLite Autoincrement", §3), so no plan or intent can mean
    // an older response by it.
    try response.bind(id.map { .integer($0) } ?? .null, at: 1)
    for (index, column) in AppleSchema.rawResponseColumns.enumerated() {
      try response.bind(raw.value(of: column) ?? .null, at: Int32(index + 2))
    }
    _ = try response.step()
    response.reset()
    if let id { return id }
    lastID.reset()
    _ = try lastID.step()
    return lastID.integer(at: 0)
  }

  private func insertBlobs(_ raw: RawResponse, as id: Int64) throws {
    try blobs.restart(for: id)
    for (index, name) in RawResponse.Part.Name.allCases.dropLast().enumerated() {
      try blobs.bind(value(of: name, in: raw), at: Int32(index + 2))
    }
    _ = try blobs.step()
    blobs.reset()
  }

  private func insertBody(_ raw: RawResponse, _ staged: ByteString?, as id: Int64) throws {
    try bodies.restart(for: id)
    let location = raw.value(of: "isDataOnFS")
    if let staged {
      // Keep an unusual value of `isDataOnFS`: for CFNetwork, any value above 0 means a file.
      let isKept = raw.hasBodyFile && location != nil
      try bodies.bind(isKept ? location ?? .integer(1) : .integer(1), at: 2)
      try bodies.bind(text: staged.bytes, at: 3)
    } else if case .integer(1...) = location, raw.part(.body)?.content == nil {
      // The body file was missing when the response was exported, and the archive does not record its
      // name. A random name keeps the response in the same state: its body file is missing.
      try bodies.bind(location ?? .integer(1), at: 2)
      try bodies.bind(
        text: AppleStoreWriter.uuid(.random(in: 0 ... .max), .random(in: 0 ... .max)), at: 3)
    } else {
      try bodies.bind(raw.hasBodyFile ? .integer(0) : location ?? .integer(0), at: 2)
      try bodies.bind(value(of: .body, in: raw), at: 3)
    }
    _ = try bodies.step()
    bodies.reset()
  }

  /// Returns the value of a part's column, read into memory as a whole.
  private func value(
    of name: RawResponse.Part.Name, in raw: RawResponse
  ) throws -> RawResponse.Value {
    guard let part = raw.part(name) else { return .null }
    guard let content = part.content else { return raw.value(of: name.rawValue) ?? .null }
    // Checked before reading: SQLite refuses a longer value anyway, but only after all of it is in
    // memory.
    guard content.size <= ByteCount(Connection.largestValue) else {
      throw StoreError(.damaged, at: path, because: "a value is too large for the database")
    }
    let bytes = try content.readAll()
    return part.isText ? .text(ByteString(bytes)) : .blob(bytes)
  }
}

/// The statements that delete the rows of one response.
struct AppleRowRemoval: ~Copyable {
  private var responses: Statement
  private var blobs: Statement
  private var bodies: Statement

  init(_ connection: borrowing Connection) throws(SQLiteError) {
    func removal(from table: String) -> String { "DELETE FROM \(table) WHERE entry_ID = ?1" }
    let responses = try connection.prepare(removal(from: AppleLayout.responses))
    let blobs = try connection.prepare(removal(from: AppleLayout.blobs))
    let bodies = try connection.prepare(removal(from: AppleLayout.bodies))
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
  }

  /// Deletes the rows with this id from all three tables.
  mutating func remove(_ id: Int64) throws(SQLiteError) {
    try responses.restart(for: id)
    _ = try responses.step()
    try blobs.restart(for: id)
    _ = try blobs.step()
    try bodies.restart(for: id)
    _ = try bodies.step()
  }
}

extension Statement {
  /// Binds a value with its storage class.
  mutating func bind(_ value: RawResponse.Value, at parameter: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(at: parameter)
    case .integer(let number): try bind(integer: number, at: parameter)
    case .real(let number): try bind(real: number, at: parameter)
    case .text(let text): try bind(text: text.bytes, at: parameter)
    case .blob(let bytes): try bind(blob: bytes, at: parameter)
    }
  }
}

extension NewResponse {
  /// The size from which CFNetwork stores a body in a body file (`apple-cache.md`, "Body").
  private static let fileThreshold = ByteCount(AppleStoreWriter.fileThreshold)

  /// Whether CFNetwork stores a body of this size in a body file.
  static func hasBodyFile(_ size: ByteCount?) -> Bool { (size ?? 0) >= fileThreshold }

  /// The key under which an Apple store finds the response.
  public var key: ByteString {
    // The URL of the request, as CFNetwork looks a response up before it follows any redirect.
    AppleCacheKey(of: request.url ?? url, partition: partition).text
  }

  /// Returns the response as the columns of an Apple store of schema 203.
  ///
  /// - Parameter id: The id of the rows in all three tables.
  /// - Returns: The response with its body unchanged, marked as a body file if it is large.
  public func raw(id: Int64) -> RawResponse {
    var raw = RawResponse(id: id)
    raw.columns = [
      .init("entry_ID", .integer(id)),
      // The column is 0 in all responses of real caches, and is not the version of the schema.
      .init("version", .integer(0)),
      .init("hash_value", .integer(CacheKeyHash(of: key).whenInserted)),
      .init("storage_policy", .integer(storagePolicy.number)),
      .init("request_key", .text(key)),
      .init("time_stamp", .text(ByteString(AppleStoreWriter.text(of: firstStored)))),
      .init("partition", partition.map { .text($0) } ?? .null),
    ]
    let writer = PropertyListWriter()
    func content(_ list: PropertyListValue?) -> Body? { list.map { Body(writer.bytes(of: $0)) } }
    raw.parts = [
      .init(.responseObject, content(archivedResponse)),
      .init(.requestObject, content(archivedRequest)),
      .init(.protocolProperties, content(protocolProperties)),
      .init(.userInfo, content(userInfo.isEmpty ? nil : PropertyListValue(userInfo))),
      .init(.body, body),
    ]
    raw.hasBodyFile = Self.hasBodyFile(body?.size)
    raw.columns.append(.init("isDataOnFS", .integer(raw.hasBodyFile ? 1 : 0)))
    return raw
  }

  private var archivedResponse: PropertyListValue {
    AppleMessage.Response(
      url: url, stored: stored, status: status, headers: headers, expectedLength: body?.size,
      mimeType: mimeType
    ).propertyList
  }

  private var archivedRequest: PropertyListValue {
    AppleMessage.Request(
      url: request.url ?? url, method: request.method ?? "GET",
      headers: request.headers ?? HeaderFields(), cachePolicy: request.cachePolicy ?? 0,
      // 60 seconds is the default of `URLRequest`, so the archive then has no flag for an explicit
      // time-out.
      timeoutSeconds: request.timeoutSeconds ?? 60, bodyParts: request.body.map { [$0] }
    ).propertyList
  }

  /// The `Vary` record and the properties of the request, or `nil` if there are none.
  ///
  /// Without the `Vary` record, CFNetwork would serve the response to requests that it does not match.
  private var protocolProperties: PropertyListValue? {
    var entries: [PropertyListValue.Entry] = []
    let vary = headers.fields.filter { $0.name.equalsIgnoringASCIICase("vary") }.map(\.value.bytes)
    if !vary.isEmpty {
      // CFNetwork uses the whole value of `Vary`, verbatim, as the key of the record.
      let value = ByteString(Array(vary.joined(separator: [0x2C, 0x20])))
      entries.append(AppleMessage.varyRecord(value, of: request.headers ?? HeaderFields()))
    }
    // In caches of OS X 10.10, stored POSTs have this property, by which an app allows them to be
    // cached.
    if request.method == "POST" {
      entries.append(
        .init(key: Array("kCFURLRequestAllowAllPOSTCaching".utf8), value: .boolean(true)))
    }
    if let partition {
      entries.append(
        .init(key: Array("_kCFURLCachePartitionKey".utf8), value: .string(partition.bytes)))
    }
    return entries.isEmpty ? nil : .dictionary(entries)
  }
}
