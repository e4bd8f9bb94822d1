import Bytes
import SQLite

/// A reader for all columns of single responses of an Apple store.
struct AppleRawRows: ~Copyable {
  /// The parts in the table of property lists, in the order in which they are read.
  static let parts = RawResponse.Part.Name.allCases.filter { $0 != .body }

  /// The largest body that is read with its row; the few larger ones are read in chunks.
  // One 300 MB body took 307 MB of memory as a column, and 14 MB through a BLOB handle; for small
  // bodies, both are equally fast.
  private static let largestBody = ByteCount(1 << 18)

  /// The names, in a raw response, of the columns of each table that are not parts.
  private let (responseNames, blobNames, bodyNames): ([String], [String], [String])
  private var responses: Statement
  private var blobs: Statement
  private var bodies: Statement

  /// The indexes of the body's columns in a row: whether it is in a file, its file name or short body, and the rest.
  private static let bodyPlaces = (location: Int32(0), value: Int32(1), rest: Int32(2))

  init(_ connection: borrowing Connection, _ layout: AppleLayout) throws(SQLiteError) {
    // SQLite ignores the case of ASCII letters only, so compare bytes; `String` would fold others.
    let known = Set(Self.parts.map { ByteString($0.rawValue) } + ["entry_id", "receiver_data"])
    // Columns that CFNetwork does not define are exported, too, so that a later version of the
    // schema is not lost in a backup.
    func others(_ table: String) throws(SQLiteError) -> [String] {
      try Self.columns(of: table, connection).filter {
        !known.contains(ByteString($0).asciiLowercased)
      }
    }
    let responseNames = try Self.columns(of: AppleLayout.responses, connection)
    let blobNames = try others(AppleLayout.blobs)
    let bodyNames = layout.bodyTable == AppleLayout.blobs ? [] : try others(layout.bodyTable)
    let location = layout.hasBodyFiles ? "isDataOnFS > 0" : "0"
    let body = Self.expression("receiver_data", upTo: Self.largestBody)
    let responses = try connection.prepare(
      Self.selection(responseNames.map(Self.quoted), AppleLayout.responses))
    let blobs = try connection.prepare(
      Self.selection(
        Self.parts.map { Self.expression($0.rawValue, upTo: RawResponse.largestList) }
          + blobNames.map(Self.quoted),
        AppleLayout.blobs))
    let bodies = try connection.prepare(
      Self.selection(
        [location, "CASE WHEN \(location) THEN receiver_data ELSE \(body) END"]
          + bodyNames.map(Self.quoted),
        layout.bodyTable))
    self.responseNames = responseNames
    self.blobNames = blobNames.map { "\(AppleLayout.blobs).\($0)" }
    self.bodyNames = bodyNames.map {
      ByteString($0).asciiLowercased == "isdataonfs" ? "isDataOnFS" : "\(layout.bodyTable).\($0)"
    }
    self.responses = responses
    self.blobs = blobs
    self.bodies = bodies
  }

  /// Returns the names of the columns of a table, in order.
  static func columns(
    of table: String, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    var names: [String] = []
    var rows = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
    while try rows.step() { names.append(String(decoding: rows.bytes(at: 0), as: UTF8.self)) }
    return names
  }

  private static func quoted(_ name: String) -> String {
    // Column names come from an untrusted schema, so quotes in them are doubled.
    let bytes = Array(name.utf8).flatMap { $0 == 0x22 ? [0x22, 0x22] : [$0] }
    return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
  }

  private static func selection(_ columns: [String], _ table: String) -> String {
    "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE entry_ID = ?1"
  }

  /// Returns SQL for the value of a part, or for a placeholder if it is not read with its row: an empty text
  /// for a text, and a nonempty one for a BLOB that is too long.
  // `length` of a BLOB is read from the header of the row, while that of a text counts its
  // characters. So a text is never measured here, and always read in chunks.
  static func expression(_ column: String, upTo largest: ByteCount) -> String {
    """
    CASE typeof(\(column)) WHEN 'blob' THEN \
    CASE WHEN length(\(column)) > \(largest.bytes) THEN 'long' ELSE \(column) END \
    WHEN 'text' THEN '' ELSE \(column) END
    """
  }

  /// Reads a response. Parts that must be read separately have no content.
  ///
  /// - Returns: The response, the parts to read in chunks, and the name of its body file; `nil` if it has no rows.
  mutating func response(
    _ id: Int64
  ) throws(SQLiteError) -> (RawResponse, long: [RawResponse.Part.Name], file: ByteString?)? {
    var raw = RawResponse(id: id)
    raw.columns.reserveCapacity(responseNames.count + blobNames.count + bodyNames.count)
    raw.parts.reserveCapacity(RawResponse.Part.Name.allCases.count)
    var long: [RawResponse.Part.Name] = []
    var file: ByteString?
    var isThere = false
    try responses.restart(for: id)
    if try responses.step() {
      isThere = true
      raw.append(responseNames, from: responses, at: 0)
    }
    // Without this column, an archive of the response could not say which id it had.
    if !isThere { raw.columns.append(.init("entry_ID", .integer(id))) }
    try blobs.restart(for: id)
    if try blobs.step() {
      isThere = true
      for (index, name) in Self.parts.enumerated() {
        Self.read(name, blobs, at: Int32(index), into: &raw, &long)
      }
      raw.append(blobNames, from: blobs, at: Int32(Self.parts.count))
    }
    try bodies.restart(for: id)
    if try bodies.step() {
      isThere = true
      raw.append(bodyNames, from: bodies, at: Self.bodyPlaces.rest)
      raw.hasBodyFile = bodies.integer(at: Self.bodyPlaces.location) != 0
      if raw.hasBodyFile {
        file = ByteString(bodies.bytes(at: Self.bodyPlaces.value))
        raw.parts.append(.init(.body, nil))
      } else {
        Self.read(.body, bodies, at: Self.bodyPlaces.value, into: &raw, &long)
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
    switch rows.type(at: index) {
    case .blob: raw.parts.append(.init(name, Body(rows.bytes(at: index))))
    case .null: raw.parts.append(.init(name, nil))
    case .text:
      raw.parts.append(.init(name, isText: rows.bytes(at: index).isEmpty, nil))
      long.append(name)
    case .integer, .real:
      // A number is not a part, so it is kept as a column.
      raw.columns.append(
        .init(name == .body ? "receiver_data" : name.rawValue, rows.value(at: index)))
      raw.parts.append(.init(name, nil))
    }
  }
}

extension RawResponse {
  /// Appends the columns of a row, starting at an index.
  fileprivate mutating func append(
    _ names: [String], from row: borrowing Statement, at first: Int32
  ) {
    for (index, name) in names.enumerated() {
      columns.append(Column(name, row.value(at: first + Int32(index))))
    }
  }
}

extension Statement {
  /// Resets the statement and binds the id of a row.
  mutating func restart(for id: Int64) throws(SQLiteError) {
    reset()
    try bind(integer: id, at: 1)
  }

  /// Returns the value of a column with its storage class.
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
