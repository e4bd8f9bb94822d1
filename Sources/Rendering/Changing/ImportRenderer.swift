public import Administration
import Bytes
import JSON
import ResponseArchives
public import ResponseStorage

/// Renders a plan to import entries, or its result.
public struct ImportRenderer: Sendable {
  private static let widestURL = 100

  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// The cache that is created for the entries; `nil` if it exists already.
  public var new: NewStore?
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  public init(isDryRun: Bool, new: NewStore?, secrets: SecretPolicy) {
    self.isDryRun = isDryRun
    self.new = new
    self.secrets = secrets
  }

  /// Begins one JSON object. Every selected entry must follow, and then its end.
  ///
  /// - Parameters:
  ///   - cache: The cache before the import.
  ///   - result: The result; empty in a dry run.
  public mutating func beginJSON(
    _ plan: ImportPlan, _ result: ImportResult, into cache: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    let (isDryRun, new) = (isDryRun, new)
    json.begin("entries", in: &buffer.bytes) { json in
      json.member(schema: "import")
      json.member("dry_run", isDryRun)
      json.member("archive", plan.archive)
      json.member("cache", cache)
      json.member("created", new != nil)
      for action in ImportPlan.Action.allCases {
        json.object(Self.key(action)) {
          $0.member("entries", plan.count(action))
          $0.member("body_bytes", plan.bodyBytes(action))
        }
      }
      json.member("changed", result.changed)
      json.array("omitted", objects: plan.omissions) {
        $0.member("reason", $1.reason)
        $0.member("count", $1.count)
      }
      let secrets = secrets
      json.array("damaged_records", objects: plan.damagedRecords) {
        $0.member("number", $1.number)
        $0.member("place", $1.place)
        $0.member("url", url: $1.url, secrets)
        $0.member("reason", $1.reason)
      }
      json.member("damage", plan.damage)
      json.object("lost") {
        for loss in plan.losses { $0.member(named: loss.loss.rawValue, loss.entries) }
      }
    }
  }

  /// Appends an entry. Entries must be appended in order.
  ///
  /// - Parameter isChanged: Whether it was not imported because the cache had changed.
  public mutating func appendJSON(
    _ entry: ImportPlan.Entry, isChanged: Bool, into buffer: inout TextBuffer
  ) {
    let secrets = secrets
    json.append(to: &buffer.bytes) {
      $0.object {
        $0.member("number", entry.number)
        $0.member("url", url: entry.url, secrets)
        $0.member("size", entry.size)
        // What was planned for an entry is not what happened if the app stored it anew in the
        // meantime.
        $0.member("action", isChanged ? "changed" : entry.action.rawValue)
        $0.member("reason", entry.reason)
        // Nothing is lost of an entry that stays in the archive only.
        $0.member("lost", entry.isWritten ? entry.losses.map(\.rawValue) : [])
      }
    }
  }

  /// Ends the object.
  public mutating func endJSON(into buffer: inout TextBuffer) { json.end(in: &buffer.bytes) }

  private static func key(_ action: ImportPlan.Action) -> StaticString {
    switch action {
    case .add: "added"
    case .replace: "replaced"
    case .unchanged: "unchanged"
    case .skip: "skipped"
    case .reject: "rejected"
    case .otherMethod: "other_method"
    case .lostBody: "lost_body"
    }
  }

  /// Appends a summary for people: how much was imported, and what was not.
  public func appendText(
    _ plan: ImportPlan, _ result: ImportResult, into buffer: inout TextBuffer
  ) {
    // Entries that changed meanwhile were left alone, so they must not be counted as imported.
    let written = plan.count(.add) + plan.count(.replace) - result.changed
    buffer.append(isDryRun ? "Would import " : "Imported ")
    buffer.append(grouped: Int64(written))
    buffer.append(" of ")
    buffer.append(counted: plan.archivedEntries, "entry", "entries")
    if let new {
      buffer.append(" into a new \(new.format.traits.words ?? "cache")")
      if let version = new.schemaVersion { buffer.append(" (schema \(version))") }
    }
    if plan.count(.replace) > 0 {
      buffer.append(", ")
      buffer.append(grouped: Int64(plan.count(.replace)))
      buffer.append(" of them replacing existing entries")
    }
    buffer.append("; ")
    buffer.append(byteCount: plan.bodyBytes(.add) + plan.bodyBytes(.replace))
    buffer.append(" of bodies\n")
    for (count, words) in [
      (plan.count(.unchanged), "Already there with the same contents: "),
      (
        plan.count(.skip) - plan.duplicates,
        "Entries skipped because the cache has an entry with the same key: "
      ),
      (
        plan.duplicates,
        "Entries skipped because a newer entry in the archive has the same key in this cache: "
      ),
      (plan.count(.reject), "Entries skipped because this cache cannot contain them: "),
      (
        plan.count(.otherMethod),
        "Entries skipped because their method is not GET ('--any-method' imports them too): "
      ),
      (plan.count(.lostBody), "Entries skipped because their body is lost: "),
      (result.changed, "Entries skipped because the cache changed meanwhile: "),
    ] where count > 0 {
      buffer.append(words)
      buffer.append(grouped: Int64(count))
      buffer.append("\n")
    }
    for omission in plan.omissions {
      buffer.append(omission.words("cannot be imported", "cannot be imported"))
      buffer.append("\n")
    }
    appendRejected(of: plan, into: &buffer)
    appendLosses(of: plan, into: &buffer)
  }

  private func appendLosses(of plan: ImportPlan, into buffer: inout TextBuffer) {
    guard !plan.losses.isEmpty else { return }
    buffer.append(isDryRun ? "Would lose" : "Lost")
    buffer.append(", because the cache format cannot store it:\n")
    for (loss, entries) in plan.losses {
      buffer.append("  \(loss.words): ")
      buffer.append(counted: Int64(entries), "entry\n", "entries\n")
    }
  }

  private func appendRejected(of plan: ImportPlan, into buffer: inout TextBuffer) {
    for entry in plan.rejected {
      var url = TextBuffer()
      url.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("  ")
      buffer.append(
        contentsOf: DisplayWidth.shortened(
          url.bytes[...],
          to: buffer.style.width(Self.widestURL, after: 4 + (entry.reason ?? "").utf8.count),
          style: buffer.style))
      buffer.append(": \(entry.reason ?? "")\n")
    }
  }
}

extension ResponseLoss {
  /// The description of the loss for people.
  fileprivate var words: String {
    switch self {
    case .requestURL: "the exact spelling of the request URL"
    case .requestHeaders: "header fields of the request"
    case .requestBody: "the body of the request"
    case .requestDetails: "the request policy and the timeout"
    case .url: "the exact spelling of the response URL"
    case .mimeType: "the media type"
    case .responseHeaders: "which header fields were repeated, or the case of their names"
    case .firstStored: "when it was first stored"
    case .stored: "when it was last stored"
    case .partition: "the cache partition"
    case .userInfo: "user info that the app attached"
    case .protocolProperties: "the Vary record, or properties of the request"
    case .other: "other values of the property lists"
    }
  }
}

/// Renders the result of clearing the user info of entries.
public struct ClearedUserInfo {
  /// The cache.
  public var store: StoreDescription
  /// The keys to clear.
  public var keys: [String]
  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// The number of selected entries.
  public var selected: Int64 = 0
  /// The entries that were cleared; in a dry run, those that would be.
  public var cleared: UserInfoPlan
  /// The number of entries that changed meanwhile and were left alone.
  public var skipped = 0

  /// Creates the result of a run, before it has found any entries.
  public init(
    of keys: [String], _ cleared: UserInfoPlan, in store: StoreDescription, isDryRun: Bool
  ) {
    (self.keys, self.cleared, self.store, self.isDryRun) = (keys, cleared, store, isDryRun)
  }

  /// Appends one line for the total and one for each of the first entries.
  ///
  /// - Throws: `FileError` if the entries cannot be read.
  public func appendText(_ secrets: SecretPolicy, into buffer: inout TextBuffer) throws {
    buffer.append(isDryRun ? "Would clear " : "Cleared ")
    for (index, key) in keys.enumerated() {
      buffer.append(index == 0 ? "'" : ", '")
      // A key comes from the command line, but may have been copied from a cache, with whatever a
      // hostile one wrote there.
      buffer.append(shown: ByteString(key))
      buffer.append("'")
    }
    buffer.append(" in ")
    buffer.append(grouped: Int64(cleared.count))
    buffer.append(" of ")
    buffer.append(counted: selected, "selected entry\n", "selected entries\n")
    // The total says how much was done, and the first few whether it was what the user meant. JSON
    // has all.
    var left = Self.mostShown
    try cleared.forEach { entry in
      buffer.append("  ")
      buffer.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("\n")
      left -= 1
      return left > 0
    }
    let rest = cleared.count - Self.mostShown
    if rest > 0 {
      buffer.append("  … and ")
      buffer.append(grouped: Int64(rest))
      buffer.append(" more\n")
    }
  }

  private static let mostShown = 10

  /// Appends one JSON object.
  ///
  /// - Parameter flush: Is called after each entry, of which there may be millions.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendJSON(
    _ secrets: SecretPolicy, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    var stream = JSONStream(.hostileText)
    stream.begin("cleared", in: &buffer.bytes) { json in
      json.member(schema: "expire")
      json.member("dry_run", isDryRun)
      json.member("cache", store)
      json.member("keys", keys)
      json.member("selected", selected)
      json.member("skipped", skipped)
    }
    try cleared.forEach { entry in
      stream.append(to: &buffer.bytes) { json in
        json.object {
          $0.member(id: entry.change.id)
          $0.member("url", url: entry.url, secrets)
        }
      }
      try flush(&buffer)
      return true
    }
    stream.end(in: &buffer.bytes)
  }
}
