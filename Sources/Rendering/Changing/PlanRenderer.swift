public import Administration
public import Bytes
import ResponseStorage
import JSON

/// Renders a removal plan as the file that ``SavedPlan`` reads.
///
/// URLs and keys are not masked, because entries are found again by them.
public struct PlanRenderer: Sendable {
  /// The command that made the plan.
  public var verb: String
  /// The time at which the plan was made.
  public var now: Timestamp
  /// Whether the plan asks to overwrite what is removed.
  public var isSecure: Bool

  /// Creates a renderer.
  public init(verb: String, now: Timestamp, isSecure: Bool = false) {
    self.verb = verb
    self.now = now
    self.isSecure = isSecure
  }

  /// Appends a plan as one JSON object.
  ///
  /// - Parameters:
  ///   - path: The absolute path of the store.
  ///   - flush: Is called after each entry, of which a plan may have a million.
  /// - Throws: `FileError` if the entries of the plan cannot be read, or the error that `flush` throws.
  public func append(
    _ plan: RemovalPlan, of path: String, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    var stream = JSONStream(.hostileText)
    stream.begin("entries", in: &buffer.bytes) { writeSummary(of: plan, storedAt: path, to: &$0) }
    try plan.entries.forEach { entry in
      stream.append(to: &buffer.bytes) { json in json.object { write(entry, to: &$0) } }
      try flush(&buffer)
    }
    stream.endArray(in: &buffer.bytes) { write(plan.orphans, to: &$0) }
    stream.end(in: &buffer.bytes)
  }

  private func writeSummary(
    of plan: RemovalPlan, storedAt path: String, to json: inout JSONWriter
  ) {
    json.member("schema", SavedPlan.schema)
    json.member("verb", verb)
    json.member("made", now)
    // Left out rather than false, as in the plans of earlier versions.
    if isSecure { json.member("secure", true) }
    var store = plan.store
    // Absolute, because the plan may be applied from another folder.
    store.path = path
    json.member("cache", store)
    // Strings, because JavaScript and jq lose bits of numbers beyond 2⁵³.
    json.member("identity", plan.store.identity.map { "\($0)" })
    json.object("removed") {
      $0.member("entries", plan.entries.count)
      $0.member("body_bytes", plan.bodyBytes)
    }
    json.member(keptBy: plan)
    json.member("limit_met", plan.meetsLimits)
  }

  private func write(_ orphans: [OrphanFile], to json: inout JSONWriter) {
    // The member is left out rather than empty, as plans of most commands have no orphans.
    guard !orphans.isEmpty else { return }
    json.array("orphans", .lines, objects: orphans) {
      $0.member("name", $1.name)
      $0.member("size", $1.size)
      $0.member("modified_ns", "\($1.modified)")
    }
  }

  private func write(_ entry: RemovalPlan.Entry, to json: inout JSONWriter) {
    json.member(id: entry.version.id)
    // For people who review a plan. `apply` finds entries by their ids and keys.
    json.member("url", utf8OrBase64: entry.url)
    json.member("size", entry.size)
    json.member("reason", entry.reason.rawValue)
    json.member("key", utf8OrBase64: entry.version.key)
    // Seconds with all their digits: the version is compared exactly when the plan is applied, and
    // text in whole seconds would lose the fraction.
    json.member("stored_seconds", entry.version.stored?.secondsSince1970)
    json.member("body_file", entry.hasBodyFile)
    json.key("file")
    guard let file = entry.version.file else { return json.null() }
    json.object {
      // Inode numbers and nanoseconds go beyond 2⁵³, so these are strings too.
      $0.member("number", "\(file.number)")
      $0.member("modified_ns", "\(file.modified)")
      $0.member("bytes", file.size)
    }
  }
}

extension JSONWriter {
  /// Writes the member `kept` of a plan: how many entries are kept, and why.
  mutating func member(keptBy plan: RemovalPlan) {
    object("kept") {
      $0.member("entries", plan.keptEntries)
      $0.array("reasons") { json in
        for reason in KeepReason.allCases {
          guard let kept = plan.kept[reason] else { continue }
          json.object {
            $0.member("reason", reason.rawValue)
            $0.member("entries", kept.entries)
            $0.member("body_bytes", kept.bodyBytes)
          }
        }
      }
    }
  }
}
