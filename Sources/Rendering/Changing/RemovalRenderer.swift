public import Administration
import Bytes
import JSON
import ResponseStorage

/// Renders the result of a removal.
///
/// A dry run and a real run only differ in the words that name them.
public struct RemovalRenderer: Sendable {
  private static let widestURL = 100

  /// The command, which names the JSON schema.
  public var verb: String
  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy
  /// Whether JSON lists orphans, even if there are none.
  public var listsOrphans = false

  /// The words for the cache and its limits, for commands that enforce limits. If set, the output includes the
  /// space in use, and JSON also the rule of each removed entry, and the unmet limits with their reasons.
  public var limitCommand: LimitShortfallRenderer.CommandWords?

  /// The limits, each of which the output shows with its origin, for commands that enforce limits.
  public var limits: [AppliedLimit] = []

  /// The changes to sidecar files; `nil` if they were not requested.
  public var sidecars: SidecarChanges?

  /// Whether people see the size on disk before and after.
  public var showsFootprint = false

  /// Whether people see the largest entries.
  public var listsLargest = true

  /// Whether people read how to reclaim free space; otherwise a hint follows that says so.
  public var explainsCompaction = true

  /// Whether what is removed is overwritten.
  public var isSecure = false

  /// Whether an interrupted command has not overwritten everything that it removed, so that this one does.
  public var finishesErasure = false

  private var listsRules: Bool { limitCommand != nil }

  /// Creates a renderer.
  public init(verb: String, isDryRun: Bool, secrets: SecretPolicy) {
    self.verb = verb
    self.isDryRun = isDryRun
    self.secrets = secrets
  }

  /// Returns what was done after the removals; in a dry run, what would be.
  private func erasure(of receipt: RemovalReceipt) -> ErasureReceipt? {
    guard isSecure && isDryRun else { return receipt.erasure }
    let store = receipt.plan.store
    return receipt.plan.isEmpty && !finishesErasure
      ? .skipped(for: store, isPlanned: true) : .planned(for: store)
  }

  /// Appends one JSON object, with every entry.
  ///
  /// - Parameter flush: Is called after each entry, of which a plan may have a million.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendJSON(
    _ receipt: RemovalReceipt, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    let plan = receipt.plan
    var stream = JSONStream(.hostileText)
    stream.begin("entries", in: &buffer.bytes) { writeSummary(of: receipt, to: &$0) }
    try plan.entries.forEach { entry in
      stream.append(to: &buffer.bytes) { json in json.object { write(entry, to: &$0) } }
      try flush(&buffer)
    }
    stream.endArray(in: &buffer.bytes) { json in
      if listsOrphans {
        json.array("orphans", .lines, objects: plan.orphans) {
          $0.member("name", $1.name)
          $0.member("size", $1.size)
        }
      }
      if let sidecars { SidecarRenderer(isDryRun: isDryRun).write(sidecars, to: &json) }
      if let limitCommand {
        LimitShortfallRenderer(plan.shortfall ?? LimitShortfall(), of: plan.store, limitCommand)
          .write(to: &json)
      }
      if limitCommand != nil {
        json.array("limits", objects: limits) {
          $0.member("limit", $1.setting.rawValue)
          $0.member("value", $1.value)
          $0.member("entries", count(by: $1, in: plan))
          ConfigurationRenderer.write($1.origin, to: &$0)
          $0.member("section", $1.section)
        }
        json.member("in_use_before", plan.inUse)
        json.member("in_use_after", plan.inUseAfter)
      }
      json.member("footprint_before", plan.footprint.totalBytes)
      json.member("footprint_after", receipt.footprintAfter)
      json.member("limit_met", plan.meetsLimits)
      if let erasure = erasure(of: receipt) { ErasureRenderer(receipt: erasure).write(to: &json) }
    }
    stream.end(in: &buffer.bytes)
  }

  private func writeSummary(of receipt: RemovalReceipt, to json: inout JSONWriter) {
    let plan = receipt.plan
    json.member(schema: verb)
    json.member("dry_run", isDryRun)
    json.member("cache", plan.store)
    json.object("removed") {
      $0.member("entries", plan.entries.count)
      $0.member("body_bytes", plan.bodyBytes)
      if listsOrphans {
        $0.member("orphans", plan.orphans.count)
        $0.member("orphan_bytes", plan.orphanBytes)
      }
    }
    json.member(keptBy: plan)
    // An app may have stored these anew, or removed them itself. Neither is an error.
    json.member("skipped", receipt.skipped)
    // A stopped run leaves a cache that is whole, with some of the planned entries still in it.
    // Programs need to know how many.
    json.member("left", receipt.remainder?.count ?? 0)
    json.member("stopped_by", receipt.remainder?.reason.rawValue)
  }

  private func write(_ entry: RemovalPlan.Entry, to json: inout JSONWriter) {
    json.member(id: entry.version.id)
    json.member("url", url: entry.url, secrets)
    json.member("size", entry.size)
    json.member("reason", entry.reason.rawValue)
    guard listsRules else { return }
    json.member("rule", entry.verdict.map { Int64($0.rule) })
    // Plans once had several rounds; readers of this member still find it.
    json.member("round", 1)
  }

  /// Appends a summary for people, and the largest entries.
  public func appendText(_ receipt: RemovalReceipt, into buffer: inout TextBuffer) {
    let plan = receipt.plan
    buffer.append(isDryRun ? "Would remove " : "Removed ")
    buffer.append(grouped: Int64(plan.entries.count))
    buffer.append(" of ")
    buffer.append(counted: plan.storedEntries, "entry, ", "entries, ")
    buffer.append(byteCount: plan.bodyBytes)
    buffer.append(" of bodies\n")
    appendLimits(of: plan, into: &buffer)
    if !plan.orphans.isEmpty {
      buffer.append(isDryRun ? "Would remove " : "Removed ")
      let words = plan.store.traits.orphanWords
      buffer.append(counted: Int64(plan.orphans.count), words.one, words.many)
      buffer.append(", ")
      buffer.append(byteCount: plan.orphanBytes)
      buffer.append("\n")
    }
    if let sidecars { SidecarRenderer(isDryRun: isDryRun).appendText(sidecars, into: &buffer) }
    if let before = plan.inUse, let after = plan.inUseAfter {
      buffer.append("In use: ")
      buffer.append(byteCount: before)
      buffer.append(" before, ")
      buffer.append(byteCount: after)
      buffer.append(" after\n")
    }
    if showsFootprint, let footprintAfter = receipt.footprintAfter {
      buffer.append("Size on disk: ")
      buffer.append(byteCount: plan.footprint.totalBytes)
      buffer.append(" before, ")
      buffer.append(byteCount: footprintAfter)
      buffer.append(" after\n")
    } else if receipt.returnedBytes > 0, plan.meetsLimits == nil {
      buffer.append(isDryRun ? "Would free " : "Freed ")
      buffer.append(byteCount: receipt.returnedBytes)
      buffer.append(" on disk")
      if plan.store.traits.hasDatabase, !isSecure, explainsCompaction {
        // CFNetwork creates its databases with incremental vacuum, so removing rows makes free
        // pages and not a smaller file.
        buffer.append("; run 'compact' to reclaim the free space in the database")
      }
      buffer.append("\n")
    }
    if receipt.skipped > 0 {
      buffer.append("Skipped ")
      buffer.append(
        counted: Int64(receipt.skipped), "entry that changed or was removed meanwhile\n",
        "entries that changed or were removed meanwhile\n")
    }
    if let remainder = receipt.remainder {
      buffer.append("Not removed because the command was stopped: \(remainder.words)\n")
    }
    if let erasure = erasure(of: receipt) {
      ErasureRenderer(receipt: erasure).appendText(into: &buffer)
    }
    if listsLargest { appendLargest(of: plan, into: &buffer) }
  }

  /// Appends the number of entries that each limit removes, and where the limit is set; nothing for a single limit on the
  /// command line.
  private func appendLimits(of plan: RemovalPlan, into buffer: inout TextBuffer) {
    let byRules = plan.entries.countByRules
    guard !limits.isEmpty, limits.count > 1 || limits[0].origin != nil || byRules > 0 else {
      return
    }
    for limit in limits {
      buffer.append("  ")
      buffer.append(grouped: Int64(count(by: limit, in: plan)))
      buffer.append(" by ")
      buffer.append(HostileText.shown(Self.text(of: limit)))
      buffer.append("\n")
    }
    guard byRules > 0 else { return }
    buffer.append("  ")
    buffer.append(grouped: Int64(byRules))
    buffer.append(" by rules\n")
  }

  private func count(by limit: AppliedLimit, in plan: RemovalPlan) -> Int {
    limit.reason.map { plan.entries.count(by: $0) } ?? 0
  }

  /// Returns a limit with its origin: `max-size 400 MiB of [caches.shop] (/etc/urlcache-admin/config.toml:4)`.
  private static func text(of limit: AppliedLimit) -> String {
    guard let origin = limit.origin else { return "--\(limit.setting.rawValue) \(limit.value)" }
    let section = limit.section.map { " of [caches.\($0)]" } ?? ""
    let place = ConfigurationRenderer.text(origin)
    return "\(limit.setting.rawValue) \(limit.value)\(section) (\(place))"
  }

  private func appendLargest(of plan: RemovalPlan, into buffer: inout TextBuffer) {
    let largest = plan.entries.largest
    guard !largest.isEmpty else { return }
    buffer.append("\n")
    buffer.append("      SIZE  URL", as: .heading)
    buffer.append("\n")
    for entry in largest {
      let size = entry.size.map { ByteSizeText.text($0) } ?? "-"
      buffer.append(UInt8(ascii: " "), count: 10 - size.utf8.count)
      buffer.append(size)
      buffer.append("  ")
      var url = TextBuffer()
      // Masked first: in a shortened URL, a secret that was cut would no longer be recognised.
      // Shortened last, because escapes make text longer.
      url.append(
        shown: entry.url.map { secrets.url($0, for: .people) }
          ?? ByteString("entry \(entry.version.id.short)"))
      buffer.append(
        contentsOf: DisplayWidth.shortened(
          url.bytes[...], to: buffer.style.width(Self.widestURL, after: 12), style: buffer.style))
      buffer.append("\n")
    }
    let more = plan.entries.count - largest.count
    if more > 0 {
      buffer.append("            ")
      buffer.append(grouped: Int64(more))
      buffer.append(" more\n")
    }
  }
}

extension StoreTraits {
  /// The words for files to which no entry refers: a store of files has no body files.
  var orphanWords: (one: String, many: String) {
    hasDatabase
      ? ("orphaned body file", "orphaned body files") : ("orphaned file", "orphaned files")
  }
}

extension RemovalReceipt.Remainder {
  /// What is left, in words: `12 entries and 3 orphans`.
  public var words: String {
    let parts: [(count: Int, one: String, many: String)] = [
      (entries, "entry", "entries"), (orphans, "orphan", "orphans"),
    ]
    return parts.filter { $0.count > 0 }
      .map { "\(QuantityWords.grouped(Int64($0.count))) \($0.count == 1 ? $0.one : $0.many)" }
      .joined(separator: " and ")
  }
}
