import PropertyLists
import SQLite

/// A walk over the responses of an Apple store, in the order of their `entry_ID`.
///
/// The three tables are walked side by side, each in the order of its rows, and merged here: SQLite's
/// own join is slower, and would leave out a response that lacks one of its rows.
struct AppleScan: ~Copyable {
  private var responses: AppleRows
  private var blobs: AppleRows
  private var bodies: AppleRows
  private let projection: Projection
  /// Whether the hashes of keys are to be checked, and can be.
  private let hasHashValue: Bool

  /// Prepares a walk, which ``begin(in:)`` begins.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, _ projection: Projection
  ) throws(SQLiteError) {
    func column(_ name: String, for fields: Projection) -> AppleRows.Column? {
      projection.isDisjoint(with: fields) ? nil : .init(name)
    }
    func propertyList(_ name: String, for fields: Projection) -> AppleRows.Column? {
      projection.isDisjoint(with: fields) ? nil : .propertyList(name)
    }
    let responses = try AppleRows(
      [
        column("request_key", for: [.key, .url]), column("time_stamp", for: .firstStored),
        column("storage_policy", for: .storage),
        layout.hasPartition ? column("partition", for: .storage) : nil,
        layout.hasHashValue ? column("hash_value", for: .consistency) : nil,
      ], of: AppleLayout.responses, connection)
    let blobs = try AppleRows(
      [
        propertyList("response_object", for: .ofResponseObject),
        propertyList("request_object", for: .ofRequestObject),
        propertyList("proto_props", for: .protocolProperties),
        propertyList("user_info", for: .userInfo),
      ], of: AppleLayout.blobs, connection)
    let bodies = try AppleRows(
      [projection.contains(.body) ? .body(hasBodyFiles: layout.hasBodyFiles) : nil],
      of: layout.bodyTable, connection)
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
    self.projection = projection
    hasHashValue = projection.contains(.consistency) && layout.hasHashValue
  }

  /// Begins to walk over the responses whose numbers are in `range`.
  mutating func begin(in range: ClosedRange<Int64>) throws {
    try responses.begin(in: range)
    try blobs.begin(in: range)
    try bodies.begin(in: range)
  }

  /// Puts the next response into `response`, whatever was there; its texts go into `memory`.
  ///
  /// - Returns: `false` at the end.
  /// - Throws: ``SQLiteError``, or ``DisorderedRows`` if a damaged table gives rows twice.
  mutating func next(
    into response: inout StoredResponse, reusing memory: inout StoredResponse.SpareMemory
  ) throws -> Bool {
    let id = min(responses.id, blobs.id, bodies.id)
    guard id < AppleRows.end else { return false }
    response.become(.row(id), sparing: &memory)
    let hasResponse = responses.id == id
    if hasResponse {
      readResponseRow(into: &response)
    } else {
      response.notes.append(
        .init(.noResponseRow, "its row in '\(AppleLayout.responses)' is missing"))
    }
    if blobs.id == id {
      readBlobRow(into: &response, reusing: &memory)
      try blobs.advance()
    } else {
      response.notes.append(.init(.noBlobRow, "its row in '\(AppleLayout.blobs)' is missing"))
    }
    if bodies.id == id {
      readBodyRow(into: &response)
      try bodies.advance()
    } else {
      response.bodyLocation = .missing
      response.notes.append(.init(.noBodyRow, "its row in '\(AppleLayout.bodies)' is missing"))
    }
    if projection.contains(.url), response.url == nil {
      response.url = response.request.url
      if response.url == nil, hasResponse {
        response.url = text("request_key", responses, at: 1, &response)
      }
    }
    if hasResponse { try responses.advance() }
    return true
  }

  private borrowing func readResponseRow(into response: inout StoredResponse) {
    if projection.contains(.key) {
      response.key = text("request_key", responses, at: 1, &response)
    }
    if projection.contains(.firstStored) {
      let text = text("time_stamp", responses, at: 2, &response)
      response.firstStored = text.flatMap { Timestamp(databaseText: $0.bytes) }
      if text != nil, response.firstStored == nil {
        response.notes.append(.init(.badTime, "time_stamp is no date and time"))
      }
    }
    if projection.contains(.storage) {
      if responses.type(at: 3) == .integer {
        response.storagePolicy = .init(stored: responses.integer(at: 3))
      } else if responses.type(at: 3) != .null {
        response.notes.append(.init(.wrongType, "storage_policy is no integer"))
      }
      if responses.type(at: 4) != .null {
        response.partition = text("partition", responses, at: 4, &response)
      }
    }
    if hasHashValue, let key = response.key { checkHash(of: key, &response) }
  }

  /// Notes a hash that is neither of the two that CFNetwork writes for a key.
  private borrowing func checkHash(of key: ByteString, _ response: inout StoredResponse) {
    let hash = CacheKeyHash(of: key)
    let stored = responses.type(at: 5) == .integer ? responses.integer(at: 5) : nil
    guard stored != hash.whenInserted, stored != hash.whenUpdated else { return }
    response.notes.append(.init(.wrongHash, "hash_value is not the hash of its key"))
  }

  private borrowing func text(
    _ column: String, _ row: borrowing AppleRows, at index: Int32, _ response: inout StoredResponse
  ) -> ByteString? {
    switch row.type(at: index) {
    case .text, .blob:
      let text = ByteString(row.bytes(at: index))
      if projection.contains(.notes), text.string == nil {
        response.notes.append(.init(.notUTF8, "\(column) is not UTF-8"))
      }
      return text
    case .null, .integer, .real:
      response.notes.append(.init(.wrongType, "\(column) is not text"))
      return nil
    }
  }

  private borrowing func readBlobRow(
    into response: inout StoredResponse, reusing memory: inout StoredResponse.SpareMemory
  ) {
    if !projection.isDisjoint(with: .ofResponseObject) {
      decode("response_object", at: 1, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        try response.decodeResponseObject(bytes, projection, reusing: &memory)
      }
    }
    if !projection.isDisjoint(with: .ofRequestObject) {
      decode("request_object", at: 2, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        try response.decodeRequestObject(bytes, projection)
      }
    }
    if projection.contains(.protocolProperties), blobs.type(at: 3) != .null {
      decode("proto_props", at: 3, into: &response) {
        (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        response.protocolProperties = try StoredResponse.decodeProperties(bytes)
      }
    }
    if projection.contains(.userInfo), blobs.type(at: 4) != .null {
      decode("user_info", at: 4, into: &response) { (bytes, response) throws(PropertyListError) in
        memory.byteCount += bytes.count
        response.userInfo = try StoredResponse.decodeProperties(bytes)
      }
    }
  }

  private borrowing func decode(
    _ column: String, at index: Int32, into response: inout StoredResponse,
    _ body: (Span<UInt8>, inout StoredResponse) throws(PropertyListError) -> Void
  ) {
    guard !blobs.isTooLarge(at: index) else {
      response.notes.append(.init(.tooLarge, "\(column) is too large to be read"))
      return
    }
    guard blobs.type(at: index) != .null else {
      response.notes.append(.init(.undecodable, "\(column) is NULL, or a text that is too large"))
      return
    }
    do throws(PropertyListError) {
      try blobs.withBytes(at: index) { bytes throws(PropertyListError) in
        try body(bytes, &response)
      }
    } catch {
      response.notes.append(.init(.undecodable, "\(column) cannot be decoded: \(error)"))
    }
  }

  private borrowing func readBodyRow(into response: inout StoredResponse) {
    guard projection.contains(.body) else { return }
    switch bodies.type(at: 1) {
    case .integer:
      response.bodyLocation = .inline
      response.bodySize = bodies.integer(at: 1)
    case .real:
      response.bodyLocation = .inline
    case .text, .blob:
      response.bodyLocation = .file
      response.bodyFileName = text("receiver_data", bodies, at: 1, &response)
    case .null:
      response.bodyLocation = .missing
      response.notes.append(.init(.noBodyRow, "receiver_data is neither a BLOB nor text"))
    }
  }
}

extension Projection {
  static let ofResponseObject: Self = [
    .url, .stored, .status, .mimeType, .ofResponseHeaders, .notes,
  ]
  static let ofRequestObject: Self = [.method, .ofRequestHeaders, .requestDetails, .notes]
}

extension Timestamp {
  /// Creates a moment from `YYYY-MM-DD HH:MM:SS` in UTC, which is how SQLite writes
  /// `CURRENT_TIMESTAMP`; `nil` for anything else.
  init?(databaseText text: [UInt8]) {
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in text[range] {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = value * 10 + Int64(byte &- UInt8(ascii: "0"))
      }
      return value
    }
    guard text.count == 19, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] == UInt8(ascii: " "), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      let time = CivilTime(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    self.init(secondsSince1970: Double(time.secondsSince1970))
  }
}
