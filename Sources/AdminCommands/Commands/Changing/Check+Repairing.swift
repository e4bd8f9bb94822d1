import Administration
import Bytes
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin.Check {
  /// Executes the repair plan of a check, if the user confirms it, and reports the result.
  func repair(
    _ check: StoreCheck, at now: Timestamp, _ renderer: CheckRenderer,
    _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    var removals = RemovalRenderer(
      verb: "repair", isDryRun: change.dryRun, secrets: secrets.policy)
    removals.listsOrphans = true
    securing.prepare(&removals, for: check.plan, in: environment)
    removals.sidecars = sidecars.sidecars == nil ? nil : check.sidecars?.plan.preview
    let isAllowed: Bool
    do {
      // Show the findings before asking about them.
      if change.format == .table { try output.flush() }
      // What `quick_check` has found ends the repair later, too, so there is nothing to ask.
      if check.isDamaged, !full, !change.noVerify {
        var failure = CommandFailure(StoreError(.damaged, at: check.plan.store.path))
        failure.message += "; nothing was repaired"
        throw failure
      }
      let isSaved = try planning.save(
        check.plan, by: "repair", secure: securing.isOn, in: environment)
      isAllowed = try !isSaved && change.allow(check.plan, removals, in: environment)
      if !isSaved, !isAllowed { environment.note("nothing was removed") }
    } catch {
      try renderer.finish(repair: nil, left: nil, into: &output.text)
      try output.flush()
      throw error
    }
    let isEmpty = check.plan.isEmpty && check.sidecars?.plan.isEmpty ?? true
    guard isAllowed, !change.dryRun, !isEmpty || securing.isOn else {
      let receipt = RemovalReceipt(previewing: check.plan)
      try renderer.finish(
        repair: isAllowed
          ? {
            try removals.append(
              receipt, as: change.format, into: &$0, environment.flushIfLarge)
          } : nil,
        left: nil, into: &output.text)
      try output.flush()
      // A dry run shows the plan first, since a user who is over the cap wants to know by what.
      if isAllowed { try change.checkLimit(of: check.plan) }
      return check.isClean ? .done : .no
    }
    // Before the first removal, and only after the confirmation: a backup of a refused repair would
    // be left over.
    try planning.backUp(check.plan, of: cache, in: environment)
    return try carryOut(check, at: now, renderer, removals, &output, environment)
  }

  private func carryOut(
    _ check: StoreCheck, at now: Timestamp, _ renderer: CheckRenderer,
    _ removals: RemovalRenderer, _ output: inout OutputBuffer, _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    // Hold signals, so that one ends the process only after the current batch and the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    let plan = check.plan
    var removals = removals
    // No sidecars are changed yet.
    removals.sidecars = removals.sidecars.map { _ in SidecarChanges() }
    var execution = PlanExecution(cache: cache, change: change, environment: environment)
    execution.secure = securing.removal(
      of: cache, by: change, backup: check.plan.entries.isEmpty ? nil : planning.backup,
      in: environment)
    var receipt =
      plan.isEmpty
      ? RemovalReceipt(before: plan)
      : execution.carryOut(plan) { environment.stopReason(signals) }
    environment.record.add(receipt.plan)
    environment.record.left = receipt.remainder?.count ?? 0
    var failure = receipt.failure
    do { try execution.erase(after: &receipt) { environment.stopReason(signals) != nil } } catch {
      failure = failure ?? error
    }
    let open = {
      try environment.openSource(plan.store.path, cache.waitMilliseconds, now).source
    }
    // Change sidecars last, because it depends on which entries were removed.
    if let sidecars = check.sidecars, failure == nil, !signals.haveCome {
      do {
        var sidecarPlan = sidecars.plan
        var changed = 0
        if sidecarPlan.makesFiles {
          // An entry may have changed while the question was open, and a new sidecar must match its entry. Pass the
          // naming, because the sidecars that revealed it may be removed by now.
          var command = self
          command.sidecarNames = sidecarPlan.naming
          let current = try command.check(at: now, in: environment, opening: open) { _ in }
          changed = sidecarPlan.dropAdditions(missingIn: current.sidecars?.plan ?? SidecarPlan())
        }
        failure = removals.carryOut(sidecarPlan, in: sidecars.folder, with: receipt)
        removals.sidecars?.skipped += changed
      } catch { failure = error }
    }
    // The exit status depends on what is left, so check again.
    var left: StoreCheck?
    if failure == nil, !signals.haveCome {
      do { left = try self.check(at: now, in: environment, opening: open) { _ in } } catch {
        failure = error
      }
    }
    try renderer.finish(
      repair: { [removals, receipt] in
        try removals.append(receipt, as: change.format, into: &$0, environment.flushIfLarge)
      },
      left: left,
      into: &output.text)
    try output.flush()
    if let failure {
      receipt.noteBeforeFailure(in: environment)
      throw failure
    }
    receipt.reportRemainder(in: environment)
    if let left { hint(at: left, in: environment) }
    receipt.erasure?.suggestNextCommand(for: plan.store.path, in: environment)
    // By what is left and not by what was done: a repair that succeeded can leave findings that no
    // repair mends.
    guard left?.isClean ?? false else { return .no }
    return receipt.isComplete && removals.sidecars?.skipped ?? 0 == 0 ? .done : .partly
  }
}
