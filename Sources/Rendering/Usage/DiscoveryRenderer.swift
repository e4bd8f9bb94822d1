public import Bytes
public import ResponseStorage

/// The stores that were found, as text.
public struct DiscoveryRenderer: Sendable {
  /// The moment that ages are counted to.
  public var now: Timestamp

  /// Creates a renderer.
  public init(now: Timestamp) {
    self.now = now
  }

  /// Appends a table for people: a row for each store.
  public func appendTable(_ discovery: Discovery, into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "FORMAT"), .init(title: "SCHEMA", alignment: .right),
      .init(title: "ENTRIES", alignment: .right), .init(title: "FOOTPRINT", alignment: .right),
      .init(title: "NEWEST", alignment: .right), .init(title: "IN USE"), .init(title: "DEFAULT OF"),
      .init(title: "CACHE"),
    ])
    for store in discovery.stores {
      table.append([
        Array(store.format.rawValue.utf8), cell(store.schemaVersion) { $0.append(integer: $1) },
        cell(store.entries) { $0.append(grouped: $1) },
        cell(store.footprintBytes) { $0.append(byteCount: $1) },
        cell(store.newestStored) { $0.append(AgeText.text(from: $1, to: now)) },
        Array(store.use.shown.utf8),
        cell(store.defaultOf) { $0.append(shown: ByteString($1)) },
        cell(store.path) { $0.append(shown: ByteString($1)) },
      ])
    }
    table.append(to: &buffer)
  }

  /// Appends one JSON object.
  public func appendJSON(_ discovery: Discovery, into buffer: inout TextBuffer) {
    append(json: discovery, schema: "urlcache-admin.discover/1", into: &buffer)
  }

  func append(json discovery: Discovery, schema: String, into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":\"\(schema)\",\"stores\":[")
    for (index, store) in discovery.stores.enumerated() {
      buffer.append(index == 0 ? "\n" : ",\n")
      buffer.append(json: store)
    }
    buffer.append(discovery.stores.isEmpty ? "]" : "\n]")
    buffer.append(",\"entries\":")
    buffer.append(integer: discovery.entries)
    buffer.append(",\"footprint_bytes\":")
    buffer.append(plain: discovery.footprintBytes)
    buffer.append(",\"unreadable\":[")
    for (index, place) in discovery.unreadable.enumerated() {
      buffer.append(index == 0 ? "\n{\"path\":" : ",\n{\"path\":")
      buffer.append(json: place.path)
      buffer.append(",\"reason\":")
      buffer.append(json: place.reason)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(discovery.unreadable.isEmpty ? "]" : "\n]")
    buffer.append(",\"folders_too_deep\":")
    buffer.append(integer: Int64(discovery.foldersTooDeep))
    buffer.append("}\n")
  }

  /// A cell for what may not be known.
  func cell<Value>(
    _ value: Value?, _ append: (inout TextBuffer, Value) -> Void
  ) -> [UInt8] {
    guard let value else { return [UInt8(ascii: "-")] }
    var text = TextBuffer()
    append(&text, value)
    return text.bytes
  }
}

extension FoundStore.Use {
  /// Who has the store open, for people.
  fileprivate var shown: String {
    switch self {
    case .unknown: "-"
    case .none: "no"
    case .process(nil): "yes"
    case .process(let holder?): "pid \(holder)"
    }
  }

  /// Whether a process has the store open, as JSON.
  fileprivate var json: String {
    switch self {
    case .unknown: "null"
    case .none: "false"
    case .process: "true"
    }
  }

  fileprivate var holder: Int64? {
    guard case .process(let holder?) = self else { return nil }
    return Int64(holder)
  }
}

extension TextBuffer {
  /// Appends a store as a JSON object.
  fileprivate mutating func append(json store: FoundStore) {
    append("{\"path\":")
    append(json: store.path)
    append(",\"format\":\"\(store.format.rawValue)\",\"schema_version\":")
    append(json: store.schemaVersion)
    append(",\"entries\":")
    append(json: store.entries)
    append(",\"footprint_bytes\":")
    append(json: store.footprintBytes)
    append(",\"newest_stored\":")
    append(json: store.newestStored)
    append(",\"in_use\":\(store.use.json),\"pid\":")
    append(json: store.use.holder)
    append(",\"default_of\":")
    append(json: store.defaultOf)
    append(",\"notes\":[")
    for (index, note) in store.notes.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(json: note)
    }
    append("]}")
  }
}
