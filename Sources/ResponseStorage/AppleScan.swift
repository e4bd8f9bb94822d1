import PropertyLists
import SQLite

/// A walk over the responses of an Apple store, in the order of their `entry_ID`.
///
/// The three tables are walked side by side, each in the order of its rows, and merged here: SQLite's
/// own join is slower, and would leave out a response that lacks one of its rows.
struct AppleScan: ~Copyable {
  private var responses: Rows
  private var blobs: Rows
  private var bodies: Rows
  private let projection: Projection
  private let hasBodyFiles: Bool

  /// Prepares a walk over all responses, or over the one called `id`.
  init(
    _ connection: borrowing Connection, _ layout: AppleLayout, _ projection: Projection,
    only id: Int64? = nil
  ) throws(SQLiteError) {
    let hasBodyFiles = layout.hasBodyFiles
    let condition = id.map { " WHERE entry_ID = \($0)" } ?? ""
    func select(_ columns: [String?], from table: String) -> String {
      // A walk for the numbers alone may use any index, in their order.
      let bare = columns.allSatisfy { $0 == nil }
      let list = columns.map { $0 ?? "NULL" }.joined(separator: ", ")
      return "SELECT entry_ID, \(list) FROM \(table)"
        + (bare ? condition + " ORDER BY entry_ID" : " NOT INDEXED" + condition)
    }
    func column(_ name: String, for fields: Projection) -> String? {
      projection.isDisjoint(with: fields) ? nil : name
    }
    func plist(_ name: String, for fields: Projection) -> String? {
      column(
        "CASE WHEN length(\(name)) <= \(Self.largestPropertyList) THEN \(name) END", for: fields)
    }
    let responses = try Rows(
      connection.prepare(
        select(
          [
            column("request_key", for: [.key, .url]), column("time_stamp", for: .firstStored),
            column("storage_policy", for: .storage),
            layout.hasPartition ? column("partition", for: .storage) : nil,
          ], from: AppleLayout.responses)))
    let blobs = try Rows(
      connection.prepare(
        select(
          [
            plist("response_object", for: .ofResponseObject),
            plist("request_object", for: .ofRequestObject),
            plist("proto_props", for: .protocolProperties), plist("user_info", for: .userInfo),
          ], from: AppleLayout.blobs)))
    // The bytes of a body are not read, but for the text that names its file.
    let name =
      hasBodyFiles
      ? "CASE WHEN isDataOnFS > 0 OR typeof(receiver_data) = 'text' THEN receiver_data END"
      : "CASE WHEN typeof(receiver_data) = 'text' THEN receiver_data END"
    let bodies = try Rows(
      connection.prepare(
        select(
          [
            hasBodyFiles ? column("isDataOnFS", for: .body) : nil,
            column("length(receiver_data)", for: .body), column(name, for: .body),
          ], from: layout.bodyTable)))
    self.projection = projection
    self.hasBodyFiles = hasBodyFiles
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
  }

  /// The largest property list that is decoded, in bytes.
  private static let largestPropertyList = 32 << 20

  /// Puts the next response into `response`, whatever was there.
  ///
  /// - Returns: `false` at the end.
  /// - Throws: ``SQLiteError``, or ``DisorderedRows`` if a damaged table gives rows twice.
  mutating func next(into response: inout StoredResponse) throws -> Bool {
    let id = min(responses.id, blobs.id, bodies.id)
    guard id < Rows.end else { return false }
    response = StoredResponse(id: .row(id))
    let hasResponse = responses.id == id
    if hasResponse {
      readResponseRow(into: &response)
    } else {
      response.notes.append(
        .init(.noResponseRow, "its row in '\(AppleLayout.responses)' is missing"))
    }
    if blobs.id == id {
      readBlobRow(into: &response)
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
        response.url = text("request_key", responses.statement, at: 1, &response)
      }
    }
    if hasResponse { try responses.advance() }
    return true
  }

  private borrowing func readResponseRow(into response: inout StoredResponse) {
    if projection.contains(.key) {
      response.key = text("request_key", responses.statement, at: 1, &response)
    }
    if projection.contains(.firstStored) {
      let text = text("time_stamp", responses.statement, at: 2, &response)
      response.firstStored = text.flatMap { Timestamp(databaseText: $0.bytes) }
      if text != nil, response.firstStored == nil {
        response.notes.append(.init(.badTime, "time_stamp is no date and time"))
      }
    }
    if projection.contains(.storage) {
      if responses.statement.type(at: 3) == .integer {
        response.storagePolicy = .init(stored: responses.statement.integer(at: 3))
      }
      if responses.statement.type(at: 4) != .null {
        response.partition = text("partition", responses.statement, at: 4, &response)
      }
    }
  }

  private borrowing func text(
    _ column: String, _ row: borrowing Statement, at index: Int32, _ response: inout StoredResponse
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

  private borrowing func readBlobRow(into response: inout StoredResponse) {
    if !projection.isDisjoint(with: .ofResponseObject) {
      decode("response_object", at: 1, into: &response) {
        (bytes, response) throws(PropertyListError) in
        try response.decodeResponseObject(bytes, projection)
      }
    }
    if !projection.isDisjoint(with: .ofRequestObject) {
      decode("request_object", at: 2, into: &response) {
        (bytes, response) throws(PropertyListError) in
        try response.decodeRequestObject(bytes, projection)
      }
    }
    if projection.contains(.protocolProperties), blobs.statement.type(at: 3) != .null {
      decode("proto_props", at: 3, into: &response) {
        (bytes, response) throws(PropertyListError) in
        response.protocolProperties = try StoredResponse.decodeProperties(bytes)
      }
    }
    if projection.contains(.userInfo), blobs.statement.type(at: 4) != .null {
      decode("user_info", at: 4, into: &response) { (bytes, response) throws(PropertyListError) in
        response.userInfo = try StoredResponse.decodeProperties(bytes)
      }
    }
  }

  private borrowing func decode(
    _ column: String, at index: Int32, into response: inout StoredResponse,
    _ body: (Span<UInt8>, inout StoredResponse) throws(PropertyListError) -> Void
  ) {
    guard blobs.statement.type(at: index) != .null else {
      response.notes.append(.init(.undecodable, "\(column) is NULL or larger than 32 MiB"))
      return
    }
    do throws(PropertyListError) {
      try blobs.statement.withBytes(at: index) { bytes throws(PropertyListError) in
        try body(bytes, &response)
      }
    } catch {
      response.notes.append(.init(.undecodable, "\(column) cannot be decoded: \(error)"))
    }
  }

  private borrowing func readBodyRow(into response: inout StoredResponse) {
    guard projection.contains(.body) else { return }
    if hasBodyFiles, bodies.statement.integer(at: 1) > 0 {
      response.bodyLocation = .file
      response.bodyFileName = text("receiver_data", bodies.statement, at: 3, &response)
    } else if bodies.statement.type(at: 3) != .null {
      response.bodyLocation = .inline
      response.bodySize = Int64(bodies.statement.bytes(at: 3).count)
    } else if bodies.statement.type(at: 2) != .null {
      response.bodyLocation = .inline
      response.bodySize = bodies.statement.integer(at: 2)
    } else {
      response.bodyLocation = .missing
      response.notes.append(.init(.noBodyRow, "receiver_data is NULL"))
    }
  }
}

/// A damaged table gave the same row twice, or rows out of order.
struct DisorderedRows: Error {}

/// The rows of one table, with the number of the row that stands next.
private struct Rows: ~Copyable {
  /// What stands after the last row; a row of this number is not seen, and CFNetwork never gets there.
  static let end = Int64.max

  var statement: Statement
  private(set) var id: Int64

  init(_ statement: consuming Statement) throws(SQLiteError) {
    var statement = statement
    let first = try statement.step() ? statement.integer(at: 0) : Self.end
    self.statement = statement
    id = first
  }

  mutating func advance() throws {
    let last = id
    id = try statement.step() ? statement.integer(at: 0) : Self.end
    if id <= last { throw DisorderedRows() }
  }
}

extension Projection {
  static let ofResponseObject: Self = [.url, .stored, .status, .mimeType, .responseHeaders, .notes]
  static let ofRequestObject: Self = [.method, .requestHeaders, .requestDetails, .notes]
}

extension StoredResponse.StoragePolicy {
  /// Creates a policy from the number that `URLCache.StoragePolicy` has on Apple platforms.
  init(stored number: Int64) {
    switch number {
    case 0: self = .allowed
    case 1: self = .allowedInMemoryOnly
    case 2: self = .notAllowed
    default: self = .unknown(number)
    }
  }
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
