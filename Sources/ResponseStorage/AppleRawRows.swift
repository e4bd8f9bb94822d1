import SQLite

/// Reads all columns of single responses of an Apple store.
struct AppleRawRows: ~Copyable {
  private static let parts = RawResponse.Part.Name.allCases.filter { $0 != .body }

  /// The largest body that is read with its row; a longer one is read piece by piece.
  private static let largestBody: Int64 = 1 << 18

  private let bodyTable: String
  private let (responseNames, blobNames, bodyNames): ([String], [String], [String])
  private var responses: Statement
  private var blobs: Statement
  private var bodies: Statement

  /// Where in a row the name of a body file, or a short body, and the columns after it stand.
  private static let bodyPlaces = (location: Int32(0), part: Int32(1), value: Int32(2), rest: 3)

  init(_ connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    let known = Set(Self.parts.map { ByteString($0.rawValue) } + ["entry_id", "receiver_data"])
    func others(_ table: String) throws(SQLiteError) -> [String] {
      try Self.columns(of: table, connection).filter {
        !known.contains(ByteString($0).asciiLowercased)
      }
    }
    let responseNames = try Self.columns(of: AppleLayout.responses, connection)
    let blobNames = try others(AppleLayout.blobs)
    let bodyNames = layout.bodyTable == AppleLayout.blobs ? [] : try others(layout.bodyTable)
    let location = layout.hasBodyFiles ? "isDataOnFS > 0" : "0"
    let body = Self.expressions(
      "receiver_data", upTo: Self.largestBody, isNameIf: location)
    let responses = try connection.prepare(
      Self.selection(responseNames.map(Self.quoted), AppleLayout.responses))
    let blobs = try connection.prepare(
      Self.selection(
        Self.parts.flatMap { Self.expressions($0.rawValue, upTo: RawResponse.largestList) }
          + blobNames.map(Self.quoted),
        AppleLayout.blobs))
    let bodies = try connection.prepare(
      Self.selection([location] + body + bodyNames.map(Self.quoted), layout.bodyTable))
    (self.responseNames, self.blobNames, self.bodyNames) = (responseNames, blobNames, bodyNames)
    bodyTable = layout.bodyTable
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
  }

  /// The names of the columns of a table, in their order.
  static func columns(
    of table: String, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    var names: [String] = []
    var rows = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
    while try rows.step() { names.append(String(decoding: rows.bytes(at: 0), as: UTF8.self)) }
    return names
  }

  private static func quoted(_ name: String) -> String {
    // A name comes from outside: a quote in it is doubled.
    let bytes = Array(name.utf8).flatMap { $0 == 0x22 ? [0x22, 0x22] : [$0] }
    return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
  }

  private static func selection(_ columns: [String], _ table: String) -> String {
    "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE entry_ID = ?1"
  }

  /// What a value is that is not read with its row.
  private enum Postponed: Int64 {
    case text = 1
    case longBLOB = 2
  }

  /// Whether and why a value is not read with its row, and the value if it is; that of the name of a file is.
  private static func expressions(
    _ column: String, upTo largest: Int64, isNameIf condition: String = "0"
  ) -> [String] {
    // A number: to read a word of each value would cost more than the value.
    let postponed = """
      CASE typeof(\(column)) WHEN 'text' THEN \(Postponed.text.rawValue) \
      WHEN 'blob' THEN (length(\(column)) > \(largest)) * \(Postponed.longBLOB.rawValue) \
      ELSE 0 END
      """
    return [postponed, "CASE WHEN \(condition) OR NOT (\(postponed)) THEN \(column) END"]
  }

  /// Reads a response; the contents of its parts are `null` where they must be read from elsewhere.
  ///
  /// - Returns: The response, which of its parts are to be read piece by piece, and the name of its
  ///   body file; `nil` if it has no rows.
  mutating func response(
    _ id: Int64
  ) throws(SQLiteError) -> (RawResponse, long: [RawResponse.Part.Name], file: ByteString?)? {
    var raw = RawResponse(id: id)
    var long: [RawResponse.Part.Name] = []
    var file: ByteString?
    var isThere = false
    try responses.restart(for: id)
    if try responses.step() {
      isThere = true
      for (index, name) in responseNames.enumerated() {
        raw.columns.append(.init(name, responses.value(at: Int32(index))))
      }
    }
    if !isThere { raw.columns.append(.init("entry_ID", .integer(id))) }
    try blobs.restart(for: id)
    if try blobs.step() {
      isThere = true
      for (index, name) in Self.parts.enumerated() {
        Self.read(name, blobs, at: Int32(2 * index), into: &raw, &long)
      }
      for (index, name) in blobNames.enumerated() {
        let value = blobs.value(at: Int32(2 * Self.parts.count + index))
        raw.columns.append(.init("\(AppleLayout.blobs).\(name)", value))
      }
    }
    try bodies.restart(for: id)
    if try bodies.step() {
      isThere = true
      for (index, name) in bodyNames.enumerated() {
        let isKnown = ByteString(name).asciiLowercased == "isdataonfs"
        raw.columns.append(
          .init(
            isKnown ? "isDataOnFS" : "\(bodyTable).\(name)",
            bodies.value(at: Int32(Self.bodyPlaces.rest + index))))
      }
      raw.hasBodyFile = bodies.integer(at: Self.bodyPlaces.location) != 0
      if raw.hasBodyFile {
        file = ByteString(bodies.bytes(at: Self.bodyPlaces.value))
        raw.parts.append(.init(.body, .null))
      } else {
        Self.read(.body, bodies, at: Self.bodyPlaces.part, into: &raw, &long)
      }
    }
    responses.reset()
    blobs.reset()
    bodies.reset()
    return isThere ? (raw, long, file) : nil
  }

  private static func read(
    _ name: RawResponse.Part.Name, _ rows: borrowing Statement, at index: Int32,
    into raw: inout RawResponse, _ long: inout [RawResponse.Part.Name]
  ) {
    var part = RawResponse.Part(name, .null)
    if let postponed = Postponed(rawValue: rows.integer(at: index)) {
      part.isText = postponed == .text
      long.append(name)
    } else {
      switch rows.type(at: index + 1) {
      case .blob: part.contents = .bytes(rows.bytes(at: index + 1))
      case .null: break
      default:
        // A number is no part: it stands among the columns.
        raw.columns.append(
          .init(name == .body ? "receiver_data" : name.rawValue, rows.value(at: index + 1)))
      }
    }
    raw.parts.append(part)
  }
}

extension Statement {
  /// Stands before the row of that number.
  mutating func restart(for id: Int64) throws(SQLiteError) {
    reset()
    try bind(integer: id, at: 1)
  }

  /// The value of a column with its class.
  borrowing func value(at column: Int32) -> RawResponse.Value {
    switch type(at: column) {
    case .null: .null
    case .integer: .integer(integer(at: column))
    case .real: .real(real(at: column))
    case .text: .text(ByteString(bytes(at: column)))
    case .blob: .blob(bytes(at: column))
    }
  }
}
