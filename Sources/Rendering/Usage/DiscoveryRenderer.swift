public import Administration
public import Bytes
import JSON
public import ResponseStorage

/// Renders the stores that were found.
public struct DiscoveryRenderer: Sendable {
  /// The time to which ages are measured.
  public var now: Timestamp

  /// Creates a renderer.
  public init(now: Timestamp) {
    self.now = now
  }

  /// Appends a table for people: a row for each store.
  public func appendTable(_ discovery: Discovery, into buffer: inout TextBuffer) {
    var columns = TextColumns([
      .init(title: "APP"), .init(title: "KIND"), .init(title: "SIZE", alignment: .right),
      .init(title: "IN USE"), .init(title: "PATH"),
    ])
    let rows = discovery.stores.map { store in
      [
        cell(store.defaultOf) { $0.append(shown: ByteString($1)) },
        Array(store.format.rawValue.utf8),
        cell(store.footprintBytes) { $0.append(byteCount: $1) }, Array(store.use.shown.utf8),
      ].map { cell in
        Array(
          DisplayWidth.shortened(
            cell[...], to: buffer.style.width(.max, after: 48), style: buffer.style))
      }
    }
    for row in rows { columns.widen(for: row) }
    columns.appendHeadings(to: &buffer)
    let indent = columns.widths.dropLast().reduce(0) { $0 + 2 + $1 }
    for (store, row) in zip(discovery.stores, rows) {
      let path = cell(store.path) { $0.append(shown: ByteString($1)) }
      // A path without a terminal is for a program, or for a file.
      let shown = DisplayWidth.shortened(
        path[...], to: buffer.style.width(.max, after: indent), style: buffer.style)
      columns.append(row + [Array(shown)], to: &buffer)
    }
  }

  /// Appends the paths, a line for each store.
  public func appendPaths(_ discovery: Discovery, into buffer: inout TextBuffer) {
    for store in discovery.stores {
      buffer.append(shown: ByteString(store.path))
      buffer.append("\n")
    }
  }

  /// Appends one JSON object.
  public func appendJSON(_ discovery: Discovery, into buffer: inout TextBuffer) {
    buffer.writeJSON(schema: "discover") { write(discovery, to: &$0) }
  }

  /// Writes the members of a discovery.
  func write(_ discovery: Discovery, to json: inout JSONWriter) {
    json.array("stores", .lines, objects: discovery.stores) { $0.members(of: $1) }
    json.member("entries", discovery.entries)
    json.member("footprint_bytes", discovery.footprintBytes)
    // What could not be searched belongs to the result: a fleet without findings is not the same
    // as one that was not looked at.
    json.array("unreadable", .lines, objects: discovery.unreadable) {
      $0.member("path", $1.path)
      $0.member("reason", $1.reason)
    }
    // So that a program sees that more may be found with a greater depth.
    json.member("folders_too_deep", discovery.foldersTooDeep)
  }

  /// Returns a cell for a value that may be unknown.
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
  /// Whether another process has the store open, for people.
  fileprivate var shown: String {
    switch self {
    // Not "no": a cache of Foundation has no locks by which it could be known, and a user who reads
    // "no" may delete it.
    case .unknown: "-"
    case .none: "no"
    case .process(nil): "yes"
    case .process(let holder?): "pid \(holder)"
    }
  }

  /// Whether another process has the store open; `nil` if it is unknown.
  fileprivate var isUse: Bool? {
    switch self {
    case .unknown: nil
    case .none: false
    case .process: true
    }
  }

  fileprivate var holder: Int64? {
    guard case .process(let holder?) = self else { return nil }
    return Int64(holder)
  }
}

extension JSONWriter {
  fileprivate mutating func members(of store: FoundStore) {
    member("path", store.path)
    member("format", store.format.rawValue)
    member("schema_version", store.schemaVersion)
    member("entries", store.entries)
    member("footprint_bytes", store.footprintBytes)
    member("newest_stored", store.newestStored)
    member("in_use", store.use.isUse)
    member("pid", store.use.holder)
    member("default_of", store.defaultOf)
    member("notes", store.notes)
  }
}

extension DiscoveryRenderer {
  private static let shareBarWidth = 20

  /// Appends a table for people: a row with the size on disk of each store, and a total.
  public func appendUsageTable(_ discovery: Discovery, into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "ENTRIES", alignment: .right), .init(title: "SIZE ON DISK", alignment: .right),
      .init(title: ""), .init(title: "SHARE", alignment: .right), .init(title: "CACHE"),
    ])
    let whole = discovery.footprintBytes
    for store in discovery.stores {
      let bar = BarText.text(
        part: store.footprintBytes ?? 0, of: whole, width: Self.shareBarWidth,
        asciiOnly: buffer.style.isASCII)
      table.append([
        cell(store.entries) { $0.append(grouped: $1) },
        cell(store.footprintBytes) { $0.append(byteCount: $1) }, Array(bar.utf8),
        cell(store.footprintBytes) { $0.append("\(BarText.percent($1, of: whole))%") },
        cell(store.path) { $0.append(shown: ByteString($1)) },
      ])
    }
    let count = Int64(discovery.stores.count)
    table.append([
      cell(discovery.entries) { $0.append(grouped: $1) }, cell(whole) { $0.append(byteCount: $1) },
      [], [],
      cell(count) { $0.append(counted: $1, "cache", "caches") },
    ])
    table.append(to: &buffer)
  }

  /// Appends one JSON object, with the groups of all stores.
  public func appendUsageJSON(
    _ discovery: Discovery, _ groups: UsageReport, _ renderer: UsageRenderer,
    into buffer: inout TextBuffer
  ) {
    buffer.writeJSON(schema: "usage-all") {
      write(discovery, to: &$0)
      renderer.write(groups.groups, named: "groups", to: &$0)
      $0.member("rest", groups.rest)
    }
  }
}
