import Administration
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin.Check {
  /// Carries out the plan of a check, if the user wants it, and says what came of it.
  func repair(
    _ check: StoreCheck, at now: Timestamp, _ renderer: CheckRenderer,
    _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    var removals = RemovalRenderer(
      verb: "repair", isDryRun: change.dryRun, secrets: secrets.policy)
    removals.listsOrphans = true
    let isAllowed: Bool
    do {
      // Who is asked has to see what was found.
      if change.format == .table { try output.flush() }
      isAllowed = try change.allow(check.plan, removals, in: environment)
    } catch {
      renderer.finish(repair: nil, left: nil, into: &output.text)
      try output.flush()
      throw error
    }
    if !isAllowed { environment.note("nothing was removed") }
    guard isAllowed, !change.dryRun, !check.plan.isEmpty else {
      let receipt = Receipt(check.plan, removals, change.format)
      renderer.finish(
        repair: isAllowed ? { receipt.append(into: &$0) } : nil, left: nil, into: &output.text)
      try output.flush()
      return check.isClean ? .done : .no
    }
    removals.isDryRun = false
    return try carryOut(check.plan, at: now, renderer, removals, &output, environment)
  }

  private func carryOut(
    _ plan: RemovalPlan, at now: Timestamp, _ renderer: CheckRenderer,
    _ removals: RemovalRenderer, _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    // A signal ends the process after the batch that it comes in, and after the receipt.
    let signals = HeldSignals()
    var removal = Removal()
    var failure: (any Error)?
    do {
      let store = try environment.openStore(
        plan.store.path, cache.waitMilliseconds, !change.noVerify)
      try plan.carryOut(in: store, into: &removal) { signals.haveCome }
    } catch { failure = error }
    var receipt = Receipt(plan, removals, change.format)
    receipt.plan.leaveOut(removal)
    receipt.skipped = removal.skipped.count
    var left: StoreCheck?
    if failure == nil, !signals.haveCome {
      let open = { try environment.openSource(plan.store.path, cache.waitMilliseconds, now) }
      do { left = try check(at: now, in: environment, opening: open) { _ in } } catch {
        failure = error
      }
    }
    renderer.finish(repair: { receipt.append(into: &$0) }, left: left, into: &output.text)
    try output.flush()
    if let failure { throw failure }
    note(removal, of: plan, in: environment)
    guard left?.isClean ?? false else { return .no }
    return removal.skipped.isEmpty && removal.skippedOrphans.isEmpty ? .done : .partly
  }

  /// Tells the user what was not removed.
  private func note(
    _ removal: Removal, of plan: RemovalPlan, in environment: CommandEnvironment
  ) {
    if removal.orphanedFiles > 0 {
      environment.note("body files that could not be removed: \(removal.orphanedFiles)")
    }
    if !removal.skippedOrphans.isEmpty {
      environment.note(
        "body files that had changed or were gone, and stayed: \(removal.skippedOrphans.count)")
    }
    let rest =
      plan.entries.count - removal.visited + plan.orphans.count - removal.visitedOrphans
    if rest > 0 { environment.note("stopped by a signal before \(rest) entries or files") }
  }
}

/// What a repair removed, or would.
private struct Receipt {
  var plan: RemovalPlan
  var skipped = 0
  private let renderer: RemovalRenderer
  private let format: ChangeFormat

  init(_ plan: RemovalPlan, _ renderer: RemovalRenderer, _ format: ChangeFormat) {
    self.plan = plan
    self.renderer = renderer
    self.format = format
  }

  func append(into buffer: inout TextBuffer) {
    switch format {
    case .table: renderer.appendText(plan, skipped: skipped, into: &buffer)
    case .json:
      // The database keeps its length.
      renderer.appendJSON(
        plan, skipped: skipped, footprintAfter: plan.footprint.totalBytes - plan.returnedBytes,
        into: &buffer)
    }
  }
}
