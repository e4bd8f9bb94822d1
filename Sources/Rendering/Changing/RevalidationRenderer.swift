import Bytes
import HTTPCaching
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
  /// - Parameter skipped: The entries that were left alone because they had changed.
  public func appendText(
    _ plan: RevalidationPlan, skipped: Set<StoredResponse.ID>, into buffer: inout TextBuffer
  ) {
    guard !plan.entries.isEmpty else { return }
    var table = TextTable([
      .init(title: "OUTCOME"), .init(title: "BY"), .init(title: "SAVES", alignment: .right),
      .init(title: "ACTION"), .init(title: "URL"),
    ])
    let rows = plan.entries.map { cells(of: $0, skipped) }
    let indent = ["OUTCOME", "BY", "SAVES", "ACTION"].enumerated().reduce(0) { sum, title in
      sum + 2
        + rows.reduce(title.element.utf8.count) {
          max($0, DisplayWidth.width(of: $1[title.offset][...]))
        }
    }
    for (entry, cells) in zip(plan.entries, rows) {
      var url = TextBuffer()
      url.append(shown: entry.result.request.url.map { secrets.url($0, for: .people) } ?? "-")
      let detail = detail(of: entry).map { [UInt8(ascii: " ")] + $0 } ?? []
      let width = buffer.style.width(
        Self.widestURL, after: indent + DisplayWidth.width(of: detail[...]))
      table.append(
        cells + [DisplayWidth.shortened(url.bytes[...], to: width, style: buffer.style) + detail])
    }
    table.append(to: &buffer)
    appendSums(of: plan, skipped: skipped, into: &buffer)
  }

  /// Returns the cells of an entry before its URL.
  private func cells(
    of entry: RevalidationPlan.Entry, _ skipped: Set<StoredResponse.ID>
  ) -> [[UInt8]] {
    let result = entry.result
    return [
      result.outcome.rawValue, result.decider?.rawValue ?? "-",
      result.savedBytes > 0 ? ByteSizeText.text(result.savedBytes) : "-", action(entry, skipped),
    ].map { Array($0.utf8) }
  }

  private func action(
    _ entry: RevalidationPlan.Entry, _ skipped: Set<StoredResponse.ID>
  ) -> String {
    if skipped.contains(entry.result.request.version.id) { return "skipped" }
    return switch entry.action {
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
    if let location = entry.result.location {
      var shown = TextBuffer()
      shown.append(shown: secrets.url(location, for: .people))
      parts.append(
        Array("to ".utf8) + DisplayWidth.shortened(shown.bytes[...], to: Self.widestURL))
    }
    if let reason = entry.result.reason {
      var shown = TextBuffer()
      // The words may contain an error text of the system or of a server, which is not safe for a
      // terminal.
      shown.append(shown: Array(reason.words(after: entry.result).utf8))
      parts.append(shown.bytes)
    }
    // A download of the whole body, where the user expected the rest of it, needs a reason.
    if let misfit = entry.result.misfit {
      parts.append(Array("requested the full response, because \(misfit.words)".utf8))
    }
    if let skipReason = entry.skipReason { parts.append(Array(skipReason.words.utf8)) }
    if entry.result.request.withholdsCredentials, entry.result.response != nil {
      parts.append(Array("sent without the stored credentials".utf8))
    }
    guard !parts.isEmpty else { return nil }
    return Array("(".utf8) + parts.joined(separator: Array("; ".utf8)) + Array(")".utf8)
  }

  private func appendSums(
    of plan: RevalidationPlan, skipped: Set<StoredResponse.ID>, into buffer: inout TextBuffer
  ) {
    buffer.append("\n")
    buffer.append(grouped: Int64(plan.askedCount))
    buffer.append(" requested")
    for outcome in ValidationResult.Outcome.allCases where plan.count(outcome) > 0 {
      buffer.append(", ")
      buffer.append(grouped: Int64(plan.count(outcome)))
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
      let count = plan.entries.count { entry in
        entry.action == action && !skipped.contains(entry.result.request.version.id)
      }
      guard count > 0 else { continue }
      buffer.append(isDryRun ? words.0 : words.1)
      buffer.append(grouped: Int64(count))
      buffer.append(count == 1 ? " entry\n" : " entries\n")
    }
    if !skipped.isEmpty {
      buffer.append("Skipped ")
      buffer.append(grouped: Int64(skipped.count))
      buffer.append(
        skipped.count == 1
          ? " entry that changed or was removed meanwhile\n"
          : " entries that changed or were removed meanwhile\n")
    }
  }
}
