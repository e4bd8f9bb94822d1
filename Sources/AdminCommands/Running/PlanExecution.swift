import Administration
import Files
import Rendering
import ResponseStorage

/// Executes confirmed plans.
struct PlanExecution {
  let cache: CacheOptions
  let change: ChangeOptions
  let environment: CommandEnvironment

  /// The sidecars to remove with the entries, and their folder.
  var sidecars: (plan: SidecarPlan, folder: SidecarFolder)?

  /// Overwrites what is removed; `nil` if that was not requested.
  var secure: SecureRemoval?

  /// Removes the entries and files of a plan.
  ///
  /// The cache is closed on return, because only then SQLite deletes the log. No database file may be opened next to
  /// SQLite either: closing it would drop SQLite's locks.
  ///
  /// - Parameters:
  ///   - shrinking: Whether to compact the database afterwards.
  ///   - verifying: Whether to check the database first, unless the user disabled that.
  ///   - stopReason: Called between batches; returns why to stop, or `nil`.
  func carryOut(
    _ plan: RemovalPlan, shrinking: Bool = false, verifying: Bool = true,
    unless stopReason: () -> StopReason?
  ) -> RemovalReceipt {
    func shouldStop() -> Bool { stopReason() != nil }
    var removal = Removal()
    var failure: (any Error)?
    do {
      let store = try open(plan, verifying: verifying)
      let count = Int64(plan.entries.count + plan.orphans.count)
      try environment.showingProgress("Removing entries", of: count) {
        try plan.carryOut(in: store, into: &removal, unless: shouldStop)
      }
      // In slices, because a rewrite needs as much free space again, and the reason for the limit
      // may be a full disk.
      if shrinking { _ = try environment.compact(store, of: plan.footprint, unless: shouldStop) }
      // Before the store is closed, as SQLite then deletes the log without overwriting it.
      if secure != nil { _ = try store.erase(fully: false) { false } }
    } catch {
      failure = error
    }
    return RemovalReceipt(of: plan, removal, stoppedBy: stopReason(), failure)
  }

  private func open(_ plan: RemovalPlan, verifying: Bool) throws -> any ResponseStore {
    if let secure {
      try secure.collect(plan)
      return try secure.open(plan.store.path)
    }
    return try environment.showingProgress("Checking the database", of: nil) {
      try environment.openStore(
        plan.store.path, cache.waitMilliseconds, verifying && !change.noVerify)
    }
  }

  /// Overwrites what the removed entries left.
  ///
  /// - Throws: What ended it early. The receipt has what was done before.
  func erase(
    after receipt: inout RemovalReceipt, unless shouldStop: () -> Bool
  ) throws {
    guard let secure else { return }
    let store = receipt.plan.store
    if let failure = receipt.failure {
      receipt.erasure = .failed(failure, for: store)
      return
    }
    guard !receipt.plan.isEmpty || environment.mayHaveUnfinishedErasure(store.path) else {
      receipt.erasure = .skipped(for: store, isPlanned: false)
      return
    }
    if receipt.plan.isEmpty { try secure.collectRemains(of: store, receipt.plan.absent) }
    let (erasure, failure) = secure.finish(
      store, linkedFiles: receipt.linkedFiles, unless: shouldStop)
    receipt.erasure = erasure
    if let failure { throw failure }
    let source = try cache.openForPlanning(in: environment, copy: store.path)
    receipt.footprintAfter = try source.footprint().totalBytes
    try source.finish()
  }

  /// Executes a plan, and reports what was removed, even after a failure.
  ///
  /// - Parameter skipped: The number of entries that had changed before and are not in the plan.
  /// - Returns: Whether the whole plan was executed.
  func run(
    _ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer
  ) throws -> Bool {
    // Hold signals, so that one ends the process only after the current batch and the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    // A cache whose entries are already removed, by an interrupted command, can still have traces of them.
    var receipt =
      secure != nil && plan.isEmpty
      ? RemovalReceipt(before: plan) : carryOut(plan) { environment.stopReason(signals) }
    var renderer = renderer
    var failure = receipt.failure
    if let sidecars {
      let error = renderer.carryOut(sidecars.plan, in: sidecars.folder, with: receipt)
      failure = failure ?? error
    }
    receipt.skipped += skipped
    do { try erase(after: &receipt) { environment.stopReason(signals) != nil } } catch {
      failure = failure ?? error
    }
    // What was removed before is gone whatever ended the run, so it is said in any case.
    if let failure, receipt.plan.isEmpty { throw failure }
    renderer.showsFootprint = renderer.showsFootprint || secure != nil
    try receipt.write(by: renderer, as: change.format, in: environment)
    if let failure {
      receipt.noteBeforeFailure(in: environment)
      throw failure
    }
    receipt.reportRemainder(in: environment)
    if let erasure = receipt.erasure {
      erasure.suggestNextCommand(for: plan.store.path, in: environment)
    } else if change.format == .table, plan.store.format.hasDatabase, !receipt.plan.entries.isEmpty
    {
      environment.suggest(
        "reclaim the free space in the database with", ["compact", "-c", plan.store.path])
    }
    return receipt.isComplete && renderer.sidecars?.skipped ?? 0 == 0
  }

  /// Shows what would be removed, and throws if that exceeds the cap.
  func preview(_ plan: RemovalPlan, skipped: Int = 0, _ renderer: RemovalRenderer) throws {
    var receipt = RemovalReceipt(previewing: plan)
    receipt.skipped = skipped
    try receipt.write(by: renderer, as: change.format, in: environment)
    try change.checkLimit(of: plan)
    if change.dryRun, change.format == .table, !plan.isEmpty { environment.suggestRunning() }
  }
}

extension RemovalRenderer {
  /// Changes sidecars after their entries were removed, and records the changes.
  ///
  /// - Returns: The error that ended it early.
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
