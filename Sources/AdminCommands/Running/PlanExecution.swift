import Administration
import Files
import Rendering
import ResponseStorage

/// The carrying out of plans that were allowed.
struct PlanExecution {
  let cache: CacheOptions
  let change: ChangeOptions
  let environment: CommandEnvironment

  /// The side files that go with the entries, and their folder.
  var sidecars: (plan: SidecarPlan, folder: SidecarFolder)?

  /// Removes what a plan says.
  ///
  /// The cache is closed when this returns, as its log goes only then, and as no file of a database may be
  /// opened beside SQLite.
  ///
  /// - Parameters:
  ///   - shrinking: Whether to give what becomes free back to the file system.
  ///   - verifying: Whether the database is to be checked before, unless the user said not to.
  ///   - stopReason: Asked between batches why to leave the rest, if so.
  func carryOut(
    _ plan: RemovalPlan, shrinking: Bool = false, verifying: Bool = true,
    unless stopReason: () -> StopReason?
  ) -> RemovalReceipt {
    let shouldStop = { stopReason() != nil }
    var removal = Removal()
    var failure: (any Error)?
    do {
      let store = try environment.openStore(
        plan.store.path, cache.waitMilliseconds, verifying && !change.noVerify)
      try plan.carryOut(in: store, into: &removal, unless: shouldStop)
      if shrinking { _ = try store.compact(fully: false, unless: shouldStop) }
    } catch {
      failure = error
    }
    return RemovalReceipt(of: plan, removal, stoppedBy: stopReason(), failure)
  }

  /// Removes what a plan says, and reports what was removed, also if that was not all.
  ///
  /// - Parameter skipped: The number of entries that had changed before, and are not in the plan.
  /// - Returns: Whether all of it was done.
  func run(
    _ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer
  ) throws -> Bool {
    // A signal ends the process after the batch that it comes in, and after the receipt.
    let signals = HeldSignals()
    var receipt = carryOut(plan) { environment.stopReason(signals) }
    var renderer = renderer
    var failure: (any Error)?
    if let sidecars {
      failure = renderer.carryOut(sidecars.plan, in: sidecars.folder, with: receipt)
    }
    if let failure = receipt.failure {
      receipt.reportBeforeFailure(in: environment)
      throw failure
    }
    receipt.skipped += skipped
    try receipt.write(by: renderer, as: change.format, in: environment)
    receipt.reportRemainder(in: environment)
    if let failure { throw failure }
    return receipt.isComplete && renderer.sidecars?.skipped ?? 0 == 0
  }

  /// Shows what would be removed, and fails where that is more than is allowed.
  func preview(_ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer) throws {
    var receipt = RemovalReceipt(previewing: plan)
    receipt.skipped = skipped
    try receipt.write(by: renderer, as: change.format, in: environment)
    try change.checkLimit(of: plan)
  }
}

extension RemovalRenderer {
  /// Does to side files what is planned, once entries are gone, and takes over what was done.
  ///
  /// - Returns: What ended it early.
  mutating func carryOut(
    _ plan: SidecarPlan, in folder: SidecarFolder, with receipt: RemovalReceipt
  ) -> (any Error)? {
    var changes = SidecarChanges()
    defer { sidecars = changes }
    do throws(FileError) {
      try plan.carryOut(in: folder, with: receipt.plan.entries, into: &changes)
      return nil
    } catch {
      return CommandFailure(error)
    }
  }
}
