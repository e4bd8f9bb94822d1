import Bytes
import Fetching
import HTTPCaching
import JSON
public import ResponseStorage
public import Revalidation

/// Renders the answers of the origins about entries, and what was done with the entries.
public struct RevalidationRenderer: Sendable {
  private static let widestURL = 100

  /// Whether this is a dry run, which changes nothing.
  public var isDryRun: Bool
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy

  /// Creates a renderer.
  public init(isDryRun: Bool, secrets: SecretPolicy) {
    self.isDryRun = isDryRun
    self.secrets = secrets
  }

  /// Appends a table with a row for each entry, and the totals.
  ///
  /// - Parameter flush: Is called after each row, of which there may be millions.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendText(
    _ plan: RevalidationPlan, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    guard plan.count > 0 else { return }
    var columns = TextColumns([
      .init(title: "OUTCOME"), .init(title: "BY"), .init(title: "SAVES", alignment: .right),
      .init(title: "ACTION"), .init(title: "URL"),
    ])
    try plan.forEach { columns.widen(for: cells(of: $0, isSkipped: $1)) }
    let indent = columns.widths.dropLast().reduce(0) { $0 + 2 + $1 }
    columns.appendHeadings(to: &buffer)
    try plan.forEach { entry, isSkipped in
      var url = TextBuffer()
      url.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      let detail = detail(of: entry).map { [UInt8(ascii: " ")] + $0 } ?? []
      let width = buffer.style.width(
        Self.widestURL, after: indent + DisplayWidth.width(of: detail[...]))
      let shown = DisplayWidth.shortened(url.bytes[...], to: width, style: buffer.style) + detail
      columns.append(cells(of: entry, isSkipped: isSkipped) + [Array(shown)], to: &buffer)
      try flush(&buffer)
    }
    appendSums(of: plan, into: &buffer)
  }

  /// Returns the cells of an entry before its URL.
  private func cells(of entry: RevalidationPlan.Entry, isSkipped: Bool) -> [[UInt8]] {
    [
      entry.outcome.rawValue, entry.decider?.rawValue ?? "-",
      entry.savedBytes > 0 ? ByteSizeText.text(entry.savedBytes) : "-",
      isSkipped ? "skipped" : words(for: entry.action),
    ].map { Array($0.utf8) }
  }

  private func words(for action: RevalidationPlan.Action) -> String {
    switch action {
    case .none: "-"
    case .freshen: isDryRun ? "would update" : "updated"
    case .replace: isDryRun ? "would replace" : "replaced"
    case .complete: isDryRun ? "would complete" : "completed"
    case .remove: isDryRun ? "would remove" : "removed"
    }
  }

  /// The details of an outcome in parentheses: a redirect target, a reason, and notes.
  private func detail(of entry: RevalidationPlan.Entry) -> [UInt8]? {
    var parts: [[UInt8]] = []
    if let location = entry.location {
      var shown = TextBuffer()
      shown.append(shown: secrets.url(location, for: .people))
      parts.append(
        Array("to ".utf8) + DisplayWidth.shortened(shown.bytes[...], to: Self.widestURL))
    }
    if let reason = entry.reason {
      var shown = TextBuffer()
      // The words may contain an error text of the system or of a server, which is not safe for a
      // terminal.
      shown.append(shown: Array(reason.words(status: entry.response?.head.status).utf8))
      parts.append(shown.bytes)
    }
    // A download of the whole body, where the user expected the rest of it, needs a reason.
    if let misfit = entry.misfit {
      parts.append(Array("requested the full response, because \(misfit.words)".utf8))
    }
    if let skipReason = entry.skipReason { parts.append(Array(skipReason.words.utf8)) }
    guard !parts.isEmpty else { return nil }
    return Array("(".utf8) + parts.joined(separator: Array("; ".utf8)) + Array(")".utf8)
  }

  private func appendSums(of plan: RevalidationPlan, into buffer: inout TextBuffer) {
    buffer.append("\n")
    buffer.append(grouped: plan.askedCount)
    buffer.append(" requested")
    for outcome in ValidationResult.Outcome.allCases where plan.count(outcome) > 0 {
      buffer.append(", ")
      buffer.append(grouped: plan.count(outcome))
      buffer.append(" \(outcome.rawValue)")
    }
    buffer.append("\n")
    if plan.savedBytes > 0 {
      buffer.append("Not downloaded again, because it is still valid: ")
      buffer.append(byteCount: plan.savedBytes)
      buffer.append("\n")
    }
    for (action, words) in [
      (RevalidationPlan.Action.freshen, ("Would update ", "Updated ")),
      (.replace, ("Would replace ", "Replaced ")),
      (.complete, ("Would complete ", "Completed ")), (.remove, ("Would remove ", "Removed ")),
    ] {
      let count = plan.doneCount(action)
      guard count > 0 else { continue }
      buffer.append(isDryRun ? words.0 : words.1)
      buffer.append(counted: count, "entry\n", "entries\n")
    }
    let skipped = plan.skippedCount
    if skipped > 0 {
      buffer.append("Skipped ")
      buffer.append(grouped: skipped)
      buffer.append(
        skipped == 1
          ? " entry that changed or was removed meanwhile\n"
          : " entries that changed or were removed meanwhile\n")
    }
  }
}

extension RevalidationRenderer {
  /// Appends one JSON object, with every entry.
  ///
  /// - Parameters:
  ///   - store: The cache before the run.
  ///   - flush: Is called after each entry, of which there may be millions.
  /// - Throws: `FileError` if the entries cannot be read, or the error that `flush` throws.
  public func appendJSON(
    _ plan: RevalidationPlan, of store: StoreDescription, into buffer: inout TextBuffer,
    _ flush: (inout TextBuffer) throws -> Void
  ) throws {
    var stream = JSONStream(.hostileText)
    stream.begin("entries", in: &buffer.bytes) { json in
      json.member(schema: "revalidate")
      json.member("dry_run", isDryRun)
      json.member("cache", store)
      json.member("asked", plan.askedCount)
      for outcome in ValidationResult.Outcome.allCases {
        json.member(Self.key(outcome), plan.count(outcome))
      }
      json.member("saved_bytes", plan.savedBytes)
    }
    try plan.forEach { entry, isSkipped in
      stream.append(to: &buffer.bytes) { json in
        json.object { write(entry, isSkipped: isSkipped, to: &$0) }
      }
      try flush(&buffer)
    }
    stream.end(in: &buffer.bytes)
  }

  private static func key(_ outcome: ValidationResult.Outcome) -> StaticString {
    switch outcome {
    case .unchanged: "unchanged"
    case .incomplete: "incomplete"
    case .changed: "changed"
    case .rolledBack: "rolled_back"
    case .gone: "gone"
    case .redirected: "redirected"
    case .noValidator: "no_validator"
    case .needsCredentials: "needs_credentials"
    case .notAsked: "not_asked"
    case .failed: "failed"
    }
  }

  private func write(
    _ entry: RevalidationPlan.Entry, isSkipped: Bool, to json: inout JSONWriter
  ) {
    json.member(id: entry.version.id)
    json.member("url", url: entry.url, secrets)
    json.member("outcome", entry.outcome.rawValue)
    // A set has another order in each run.
    let deciders = ValidatorComparison.Decider.allCases.filter { entry.sent.contains($0) }
    // Nothing was sent for an entry that cannot be validated.
    json.member("sent", entry.wasAsked ? deciders.map(\.rawValue) : [])
    json.member("status", entry.response?.head.status)
    json.member("decided_by", entry.decider?.rawValue)
    json.member("saved_bytes", entry.savedBytes)
    // The target of a redirect comes from a server and may contain a token, as URLs of sign-on
    // pages do.
    json.member("location", url: entry.location, secrets)
    json.member("reason", entry.reason?.code)
    json.member("message", entry.reason?.words(status: entry.response?.head.status))
    // Without its credentials a server may well send something else, so nothing was sent.
    json.member("withheld_credentials", [.withheld, .unsendable].contains(entry.credentials))
    json.member("action", isSkipped ? "skipped" : entry.action.rawValue)
    json.member("hindrance", entry.skipReason?.rawValue)
    json.member("misfit", entry.misfit?.rawValue)
  }
}
