public import Bytes

// Reading like a store.
extension RecoveredStore {
  public var rawLayout: RawLayout {
    get throws { try store?.rawLayout ?? AppleSchema.version203.rawLayout }
  }

  public func scan(
    _ projection: Projection, _ body: (borrowing StoredResponse) throws -> ScanStep
  ) throws {
    try entries.forEach { try body(StoredResponse(decoding: raw($0), projection)) }
  }

  public func response(
    _ id: StoredResponse.ID, _ projection: Projection
  ) throws -> StoredResponse? {
    guard let entry = try entries.entry(id) else { return nil }
    return StoredResponse(decoding: try raw(entry), projection)
  }

  public func forEachRawResponse(
    _ projection: Projection, where isWanted: (borrowing StoredResponse) throws -> Bool,
    _ body: (RawResponse) throws -> ScanStep
  ) throws {
    try entries.forEach { entry in
      let raw = try raw(entry)
      guard try isWanted(StoredResponse(decoding: raw, projection)) else { return .next }
      return try body(raw)
    }
  }

  public func count() -> Int64 { entries.count }

  public func withBody(
    of id: StoredResponse.ID, _ read: (inout BodyReader) throws -> Void
  ) throws {
    guard let row = try entries.entry(id)?.rows.body, let body = try body(of: row) else {
      throw StoreError(.noSuchResponse, at: description.path, because: "its body is lost")
    }
    var reader = try body.body.makeReader()
    try read(&reader)
  }

  public func rawPropertyList(_ name: String, of id: StoredResponse.ID) throws -> [UInt8]? {
    guard description.rawPropertyLists.contains(name),
      let row = try entries.entry(id)?.rows.blob,
      case .blob(let bytes)? = try reader.content(row)?.value(name)
    else { return nil }
    return bytes
  }

  public func footprint() throws -> Footprint { try store?.footprint() ?? Footprint() }

  public func forEachFinding(
    fully: Bool, now: Timestamp, after search: DamageSearch?, _ body: (Finding) throws -> Void
  ) throws {}

  public func finish() throws {
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
