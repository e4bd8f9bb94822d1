public import Administration
public import Bytes
import ResponseStorage

/// A plan to remove entries, or what came of it, as text.
///
/// A dry run and a real one look alike but for the words that say which it was.
public struct RemovalRenderer: Sendable {
  private static let rowsForPeople = 10
  private static let widestURL = 100

  /// The verb, which names the schema of the JSON.
  public var verb: String
  /// Whether nothing was done.
  public var isDryRun: Bool
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy
  /// Whether JSON lists the files that no entry names, also if there are none.
  public var listsOrphans = false

  /// Whether JSON says by which rule each entry goes, and in which round, and which limits are not met, and why: how a
  /// command names the cache and its limits.
  public var limitCommand: LimitShortfallRenderer.CommandWords?

  /// What is done to side files; `nil` if nobody asked for it.
  public var sidecars: SidecarChanges?

  private var listsRules: Bool { limitCommand != nil }

  /// Creates a renderer.
  public init(verb: String, isDryRun: Bool, secrets: SecretPolicy) {
    self.verb = verb
    self.isDryRun = isDryRun
    self.secrets = secrets
  }

  /// Appends one JSON object, with every entry.
  ///
  /// - Parameters:
  ///   - skipped: The number of entries that had changed, and stayed.
  ///   - rest: What was left, as it was stopped.
  ///   - footprintAfter: What the store takes up now, in bytes, if that was measured or can be told.
  public func appendJSON(
    _ plan: RemovalPlan, skipped: Int, rest: RemovalRest? = nil, footprintAfter: ByteCount?,
    into buffer: inout TextBuffer
  ) {
    buffer.append("{\"schema\":\"urlcache-admin.\(verb)/1\",\"dry_run\":\(isDryRun),\"cache\":")
    buffer.append(json: plan.store)
    buffer.append(",\"removed\":{\"entries\":")
    buffer.append(integer: Int64(plan.entries.count))
    buffer.append(",\"body_bytes\":")
    buffer.append(plain: plan.bodyBytes)
    if listsOrphans {
      buffer.append(",\"orphans\":")
      buffer.append(integer: Int64(plan.orphans.count))
      buffer.append(",\"orphan_bytes\":")
      buffer.append(plain: plan.orphanBytes)
    }
    buffer.append("},")
    buffer.append(jsonKept: plan)
    buffer.append(",\"skipped\":")
    buffer.append(integer: Int64(skipped))
    buffer.append(",\"left\":")
    buffer.append(integer: rest?.count ?? 0)
    buffer.append(",\"stopped_by\":")
    buffer.append(json: rest?.reason.rawValue)
    buffer.append(",\"entries\":[")
    for (index, entry) in plan.entries.enumerated() {
      buffer.append(index == 0 ? "\n{\"id\":" : ",\n{\"id\":")
      buffer.append(json: entry.version.id)
      buffer.append(",\"url\":")
      buffer.append(
        json: entry.url.map { secrets.url($0, for: .programs) }, orBase64Named: "url")
      buffer.append(",\"size\":")
      buffer.append(json: entry.size)
      buffer.append(",\"reason\":")
      buffer.append(json: entry.reason.rawValue)
      if listsRules {
        buffer.append(",\"rule\":")
        buffer.append(json: entry.verdict.map { Int64($0.rule) })
        buffer.append(",\"round\":")
        buffer.append(integer: Int64(entry.round))
      }
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(plan.entries.isEmpty ? "]," : "\n],")
    if listsOrphans { appendJSON(plan.orphans, into: &buffer) }
    if let sidecars { SidecarRenderer(isDryRun: isDryRun).appendJSON(sidecars, into: &buffer) }
    if let limitCommand {
      LimitShortfallRenderer(plan.shortfall ?? LimitShortfall(), of: plan.store, limitCommand)
        .appendJSON(into: &buffer)
    }
    buffer.append("\"footprint_before\":")
    buffer.append(plain: plan.footprint.totalBytes)
    buffer.append(",\"footprint_after\":")
    buffer.append(json: footprintAfter)
    buffer.append(",\"limit_met\":")
    buffer.append(plan.meetsLimits.map { $0 ? "true" : "false" } ?? "null")
    buffer.append("}\n")
  }

  private func appendJSON(_ orphans: [OrphanFile], into buffer: inout TextBuffer) {
    buffer.append("\"orphans\":[")
    for (index, orphan) in orphans.enumerated() {
      buffer.append(index == 0 ? "\n{\"name\":" : ",\n{\"name\":")
      buffer.append(json: orphan.name)
      buffer.append(",\"size\":")
      buffer.append(plain: orphan.size)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(orphans.isEmpty ? "]," : "\n],")
  }

  /// Appends what people want to know: how much, and the largest entries.
  ///
  /// - Parameters:
  ///   - skipped: The number of entries that had changed, and stayed.
  ///   - returnedBytes: What goes back to the file system, in bytes.
  ///   - rest: What was left, as it was stopped.
  ///   - footprintAfter: What the store takes up now, in bytes, if that was measured.
  public func appendText(
    _ plan: RemovalPlan, skipped: Int, returnedBytes: ByteCount, rest: RemovalRest? = nil,
    footprintAfter: ByteCount? = nil,
    into buffer: inout TextBuffer
  ) {
    buffer.append(isDryRun ? "Would remove " : "Removed ")
    buffer.append(grouped: Int64(plan.entries.count))
    buffer.append(" of ")
    buffer.append(grouped: plan.storedEntries)
    buffer.append(plan.storedEntries == 1 ? " entry, " : " entries, ")
    buffer.append(byteCount: plan.bodyBytes)
    buffer.append(" of bodies\n")
    if !plan.orphans.isEmpty {
      buffer.append(isDryRun ? "Would remove " : "Removed ")
      buffer.append(grouped: Int64(plan.orphans.count))
      buffer.append(plan.orphans.count == 1 ? " body file" : " body files")
      buffer.append(" that no entry names, ")
      buffer.append(byteCount: plan.orphanBytes)
      buffer.append("\n")
    }
    if let sidecars { SidecarRenderer(isDryRun: isDryRun).appendText(sidecars, into: &buffer) }
    if let footprintAfter {
      buffer.append("Footprint ")
      buffer.append(byteCount: plan.footprint.totalBytes)
      buffer.append(" before, ")
      buffer.append(byteCount: footprintAfter)
      buffer.append(" after\n")
    } else if returnedBytes > 0, plan.meetsLimits == nil {
      buffer.append(isDryRun ? "Would return " : "Returned ")
      buffer.append(byteCount: returnedBytes)
      buffer.append(" to the file system")
      if plan.store.format.hasDatabase {
        buffer.append(", in body files; the rest stays free inside the database")
      }
      buffer.append("\n")
    }
    if skipped > 0 {
      buffer.append("Left, as they had changed or were gone: ")
      buffer.append(grouped: Int64(skipped))
      buffer.append("\n")
    }
    if let rest {
      buffer.append("Left, as it was stopped: ")
      buffer.append(grouped: rest.count)
      buffer.append("\n")
    }
    let later = plan.entries.count { $0.round > 1 }
    if later > 0 {
      buffer.append("Of these, as the first round gave back too little: ")
      buffer.append(grouped: Int64(later))
      buffer.append("\n")
    }
    appendLargest(of: plan, into: &buffer)
  }

  /// The places of the entries that people are shown: those with the largest bodies, of equal ones the
  /// first.
  private static func largest(of entries: [RemovalPlan.Entry]) -> [Int] {
    var largest: [Int] = []
    for index in entries.indices {
      let size = entries[index].size ?? 0
      if largest.count == rowsForPeople {
        guard let last = largest.last, entries[last].size ?? 0 < size else { continue }
        largest.removeLast()
      }
      let place = largest.firstIndex { entries[$0].size ?? 0 < size } ?? largest.count
      largest.insert(index, at: place)
    }
    return largest
  }

  private func appendLargest(of plan: RemovalPlan, into buffer: inout TextBuffer) {
    let largest = Self.largest(of: plan.entries)
    guard !largest.isEmpty else { return }
    buffer.append("\n      SIZE  URL\n")
    for index in largest {
      let entry = plan.entries[index]
      let size = entry.size.map { ByteSizeText.text($0) } ?? "-"
      buffer.append(UInt8(ascii: " "), count: 10 - size.utf8.count)
      buffer.append(size)
      buffer.append("  ")
      var url = TextBuffer()
      url.append(shown: entry.url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append(contentsOf: DisplayWidth.shortened(url.bytes[...], to: Self.widestURL))
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
