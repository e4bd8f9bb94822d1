import SQLitePages

/// What the rows of CFNetwork's tables look like in a database.
enum AppleRecordShapes {
  /// The table of a row.
  enum Table: UInt8, Hashable {
    case responses
    case blobs
    case bodies
    /// The index over keys, whose cells contain a key and the id of its row.
    case keys
  }

  /// A shape, and where its values are.
  struct Known {
    let table: Table
    let shape: RecordShape
    /// The names of the columns, in order.
    let columns: [String]
  }

  /// The shapes of all schemas from 8 to 203.
  static let all: [Known] = [
    Known(
      table: .responses,
      shape: RecordShape(response + [.init([.null, .text], lengths: 0...4_096)]),
      columns: responseColumns + ["partition"]),
    Known(table: .responses, shape: RecordShape(response), columns: responseColumns),
    Known(
      table: .blobs,
      shape: RecordShape([null, list, optionalList, optionalList, optionalList]),
      columns: ["entry_ID", "response_object", "request_object", "proto_props", "user_info"]),
    // Schema 8 has the body in the same table.
    Known(
      table: .blobs,
      shape: RecordShape([
        null, list, optionalList, .init([.null, .blob]), optionalList, optionalList,
      ]),
      columns: [
        "entry_ID", "response_object", "request_object", "receiver_data", "proto_props",
        "user_info",
      ]),
    Known(
      table: .bodies,
      // Nothing but its id shows that any bytes are a body.
      shape: RecordShape(
        [null, .init(.integer), .init([.null, .blob, .text])], needsRowID: true),
      columns: ["entry_ID", "isDataOnFS", "receiver_data"]),
    Known(
      table: .keys,
      shape: RecordShape(
        [.init(.text, lengths: 4...1 << 20), .init(.integer)], isIndex: true),
      columns: ["request_key", "entry_ID"]),
    // Schemas 11 to 13. Any two bytes can look like this one.
    Known(
      table: .bodies, shape: RecordShape([null, .init([.blob, .text])]),
      columns: ["entry_ID", "receiver_data"]),
  ]

  /// The shapes that are recognized without the structure of a page.
  static let carved = all.dropLast().map(\.shape)

  /// Whether a cell that was found by its looks may be a row. It rules out nearly all false cells without decoding them.
  static func mayBeRow(_ cell: CellCarver.Cell, in page: Span<UInt8>) -> Bool {
    switch all[cell.shape].table {
    case .responses, .bodies, .keys: return !cell.isCut
    case .blobs:
      // A property list says whether it is complete.
      let start = cell.payload.local.lowerBound + cell.header.values[1].range.lowerBound
      let count = min(listStart.count, cell.payload.local.upperBound - start, page.count - start)
      return count <= 0 || (0..<count).allSatisfy { page[start + $0] == listStart[$0] }
    }
  }

  /// What a binary property list begins with.
  private static let listStart = Array("bplist".utf8)

  /// Returns the shape of property lists of which the header is damaged, but not where it describes the response.
  static func lists(damagedAfterResponse header: RecordHeader) -> Int? {
    guard header.values.count > 1, null.allows(header.values[0].type),
      list.allows(header.values[1].type)
    else { return nil }
    return all.firstIndex { $0.table == .blobs && $0.columns.count == header.values.count }
      ?? all.firstIndex { $0.table == .blobs }
  }

  private static let null = RecordShape.Column(.null)
  /// A property list: the smallest one has 42 bytes.
  private static let list = RecordShape.Column(.blob, lengths: 42...1 << 25)
  private static let optionalList = RecordShape.Column([.null, .blob], lengths: 42...1 << 25)
  private static let response: [RecordShape.Column] = [
    null, .init([.integer, .null]), .init([.integer, .null]), .init([.integer, .null]),
    .init(.text, lengths: 1...1 << 20), .init([.text, .integer, .real], lengths: 0...64),
  ]
  private static let responseColumns = [
    "entry_ID", "version", "hash_value", "storage_policy", "request_key", "time_stamp",
  ]
  /// Where the key is in the rows of responses.
  static let keyColumn = responseColumns.firstIndex(of: "request_key") ?? 0
}
