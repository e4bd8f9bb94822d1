import Administration
import Files
import Rendering
import ResponseStorage

/// The carrying out of a plan that was allowed, with its receipt.
struct PlanExecution {
  let plan: RemovalPlan
  /// The entries that had changed before, and are not in the plan.
  var skipped = 0
  let cache: CacheOptions
  let change: ChangeOptions
  let renderer: RemovalRenderer
  let environment: CommandEnvironment

  /// Shows what would be removed.
  func preview() throws {
    var renderer = renderer
    renderer.isDryRun = change.dryRun
    try write(plan, skipped: skipped, renderer)
  }

  /// Removes what the plan says, and tells what was done, also if it was not all.
  ///
  /// - Returns: Whether all of it was done.
  func run() throws -> Bool {
    // A signal ends the process after the batch that it comes in, and after the receipt.
    let signals = HeldSignals()
    var removal = Removal()
    var done = plan
    do {
      let store = try environment.openStore(
        plan.store.path, cache.waitMilliseconds, !change.noVerify)
      try plan.carryOut(in: store, into: &removal) { signals.haveCome }
    } catch {
      done.leaveOut(removal)
      environment.noteRemoved(done.entries.count, orphanedFiles: removal.orphanedFiles)
      throw error
    }
    done.leaveOut(removal)
    var renderer = renderer
    renderer.isDryRun = false
    try write(done, skipped: skipped + removal.skipped.count, renderer)
    environment.note(orphanedFiles: removal.orphanedFiles)
    let left = plan.entries.count - removal.visited
    if left > 0 { environment.note("stopped by a signal before \(left) entries") }
    return skipped == 0 && removal.skipped.isEmpty && removal.orphanedFiles == 0
  }

  private func write(_ plan: RemovalPlan, skipped: Int, _ renderer: RemovalRenderer) throws {
    var output = OutputBuffer(environment)
    switch change.format {
    case .table: renderer.appendText(plan, skipped: skipped, into: &output.text)
    case .json:
      renderer.appendJSON(
        plan, skipped: skipped, footprintAfter: plan.footprintAfter, into: &output.text)
    }
    try output.flush()
  }
}

extension CommandEnvironment {
  /// Tells what was done before a failure ended it.
  func noteRemoved(_ entries: Int, orphanedFiles: Int) {
    if entries > 0 { note("removed before that: \(entries) entries") }
    note(orphanedFiles: orphanedFiles)
  }

  /// Tells of body files that nothing names any more and that are still there.
  func note(orphanedFiles count: Int) {
    if count > 0 { note("body files that could not be removed: \(count)") }
  }
}
