public import Administration
public import Bytes
import ResponseStorage

/// A removal plan as the file that ``SavedPlan`` reads.
///
/// It holds URLs and keys as they are, because entries are found again by them.
public struct PlanRenderer: Sendable {
  /// The verb that made the plan.
  public var verb: String
  /// When it was made.
  public var now: Timestamp

  /// Creates a renderer.
  public init(verb: String, now: Timestamp) {
    self.verb = verb
    self.now = now
  }

  /// Appends a plan as one JSON object.
  ///
  /// - Parameter path: The path of the store, from the root of the file system.
  public func append(_ plan: RemovalPlan, of path: String, into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":")
    buffer.append(json: SavedPlan.schema)
    buffer.append(",\"verb\":")
    buffer.append(json: verb)
    buffer.append(",\"made\":")
    buffer.append(json: now)
    var store = plan.store
    store.path = path
    buffer.append(",\"cache\":")
    buffer.append(json: store)
    // In strings, as JavaScript and jq lose bits beyond 2^53.
    buffer.append(",\"identity\":[")
    buffer.append(plan.store.identity.map { "\"\($0)\"" }.joined(separator: ","))
    buffer.append("],\"removed\":{\"entries\":")
    buffer.append(integer: Int64(plan.entries.count))
    buffer.append(",\"body_bytes\":")
    buffer.append(plain: plan.bodyBytes)
    buffer.append("},")
    buffer.append(jsonKept: plan)
    buffer.append(",\"limit_met\":")
    buffer.append(plan.meetsLimits.map { $0 ? "true" : "false" } ?? "null")
    buffer.append(",\"entries\":[")
    for (index, entry) in plan.entries.enumerated() {
      buffer.append(index == 0 ? "\n" : ",\n")
      append(entry, into: &buffer)
    }
    buffer.append(plan.entries.isEmpty ? "]" : "\n]")
    append(plan.orphans, into: &buffer)
    buffer.append("}\n")
  }

  private func append(_ orphans: [OrphanFile], into buffer: inout TextBuffer) {
    guard !orphans.isEmpty else { return }
    buffer.append(",\"orphans\":[")
    for (index, orphan) in orphans.enumerated() {
      buffer.append(index == 0 ? "\n{\"name\":" : ",\n{\"name\":")
      buffer.append(json: orphan.name)
      buffer.append(",\"size\":")
      buffer.append(plain: orphan.size)
      buffer.append(",\"modified_ns\":\"\(orphan.modified)\"}")
    }
    buffer.append("\n]")
  }

  private func append(_ entry: RemovalPlan.Entry, into buffer: inout TextBuffer) {
    buffer.append("{\"id\":")
    buffer.append(json: entry.version.id)
    buffer.append(",\"url\":")
    buffer.append(json: entry.url, orBase64Named: "url")
    buffer.append(",\"size\":")
    buffer.append(json: entry.size)
    buffer.append(",\"reason\":")
    buffer.append(json: entry.reason.rawValue)
    buffer.append(",\"key\":")
    buffer.append(json: entry.version.key, orBase64Named: "key")
    buffer.append(",\"stored_seconds\":")
    buffer.append(json: entry.version.stored?.secondsSince1970)
    buffer.append(",\"body_file\":")
    buffer.append(entry.hasBodyFile ? "true" : "false")
    buffer.append(",\"file\":")
    append(entry.version.file, into: &buffer)
    buffer.append("}")
  }

  private func append(_ file: FileVersion?, into buffer: inout TextBuffer) {
    guard let file else { return buffer.append("null") }
    buffer.append("{\"number\":\"\(file.number)\",\"modified_ns\":\"\(file.modified)\",\"bytes\":")
    buffer.append(plain: file.size)
    buffer.append("}")
  }
}

extension TextBuffer {
  /// Appends the id of an entry: a number, or the name of a file.
  mutating func append(json id: StoredResponse.ID) {
    switch id {
    case .row(let row): append(integer: row)
    case .file(let name): append(json: name, orBase64Named: "id")
    }
  }

  /// Appends the member `kept` of a plan: how much stays, and why.
  mutating func append(jsonKept plan: RemovalPlan) {
    append("\"kept\":{\"entries\":")
    append(integer: plan.keptEntries)
    append(",\"reasons\":[")
    var separator = "{\"reason\":"
    for reason in KeepReason.allCases {
      guard let kept = plan.kept[reason] else { continue }
      append(separator)
      append(json: reason.rawValue)
      append(",\"entries\":")
      append(integer: kept.entries)
      append(",\"body_bytes\":")
      append(plain: kept.bodyBytes)
      append("}")
      separator = ",{\"reason\":"
    }
    append("]}")
  }
}
