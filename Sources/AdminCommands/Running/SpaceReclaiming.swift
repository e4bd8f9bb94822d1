import Administration
import Bytes
import Rendering
import ResponseStorage

/// Returns space to the file system when the files of a cache are larger than its limit, although its entries are not.
///
/// No entry is removed for that: which pages are free, and how long the log is, depends on the app, and removing entries beside an app
/// makes the log longer.
struct SpaceReclaiming {
  private let limit: LimitOptions
  private let execution: PlanExecution
  /// The size of the files, as last measured; `nil` if another process kept changing them.
  private var footprint: Footprint?
  /// Whether another process had the cache open then.
  private var inUse: Bool

  /// Whether anything can be reclaimed while the plan is executed.
  let isNeeded: Bool

  /// - Parameter plan: The plan that is executed.
  init(after plan: RemovalPlan, for limit: LimitOptions, _ execution: PlanExecution) {
    (self.limit, self.execution) = (limit, execution)
    (footprint, inUse) = (plan.footprint, plan.store.inUse)
    isNeeded = limit.reclaimsSpace(after: plan)
  }

  /// Measures the files, and rewrites the database if they are still too large and no process has the cache open.
  ///
  /// - Parameter plan: What was removed.
  /// - Returns: The size on disk, in bytes; `nil` if the command was stopped before it was measured, or if another process kept
  ///   changing the files. The removal is done, so that is no failure.
  mutating func finish(
    of plan: RemovalPlan, unless stopReason: () -> StopReason?
  ) throws -> ByteCount? {
    guard stopReason() == nil else { return nil }
    if isNeeded || !plan.isEmpty { try measure(plan) }
    guard let footprint else { return nil }
    guard isNeeded, !inUse, limit.bytes.map({ footprint.totalBytes > $0 }) ?? true,
      plan.isRewriteWorthwhile(of: footprint)
    else { return footprint.totalBytes }
    do {
      let environment = execution.environment
      let store = try environment.openStore(
        plan.store.path, execution.cache.waitMilliseconds, false)
      _ = try environment.compact(store, of: footprint, fully: true) { stopReason() != nil }
    } catch let error as StoreError where error.code == .inUse || error.code == .noRoom {
      // An app has opened it, or there is no room for a copy: what remains is reported.
    }
    try measure(plan)
    return self.footprint?.totalBytes
  }

  private mutating func measure(_ plan: RemovalPlan) throws {
    do {
      let source = try execution.cache.openForPlanning(in: execution.environment)
      footprint = try source.footprint()
      inUse = source.description.inUse
      try source.finish()
    } catch let error as StoreError where error.code == .inUse || error.code == .changedWhileReading
    {
      footprint = nil
    } catch let error as StoreError where error.code == .notACache && !plan.store.traits.hasDatabase
    {
      // An empty folder is not recognizable as a cache any more.
      footprint = Footprint()
    }
  }

  /// Reports what makes the files larger than the limit, although the space in use is not.
  func report(_ plan: RemovalPlan, in environment: CommandEnvironment) {
    guard let bytes = limit.bytes, let footprint, footprint.totalBytes > bytes,
      let used = plan.inUseAfter, used <= bytes
    else { return }
    let limit =
      limit.maxSize == nil
      ? "the capacity, with which URLCache compares the size on disk" : "the limit"
    var parts: [String] = []
    func add(_ bytes: ByteCount, _ words: String) {
      if bytes > 0 { parts.append("\(ByteSizeText.text(bytes)) \(words)") }
    }
    add(footprint.freeBytes, "free inside the database")
    add(
      footprint.walBytes + footprint.shmBytes,
      inUse ? "in the log, which the app empties" : "in the log")
    add(
      max(0, footprint.orphanBytes - plan.survey.foreign.bytes),
      "in body files that no entry refers to")
    add(plan.survey.foreign.bytes, "in files that CFNetwork did not create")
    // Shares are a few percent off the size of a rewritten database.
    if parts.isEmpty, footprint.totalBytes - bytes < bytes / 20 { return }
    if parts.isEmpty { parts = ["pages that rows do not fill"] }
    environment.note(
      "\(ByteSizeText.text(used)) are in use, but the files take "
        + "\(ByteSizeText.text(footprint.totalBytes)), more than \(limit): "
        + parts.joined(separator: ", "))
  }
}
