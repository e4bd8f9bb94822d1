import Administration
import Files
import ResponseStorage

extension URLCacheAdmin.Enforce {
  /// What a plan comes to, with all rounds, and what the cache takes up then.
  struct Rehearsal {
    /// What goes in all rounds; of a cache that could not be tried on, what the first plan says.
    var plan: RemovalPlan
    /// What the cache takes up then, in bytes, if that can be told.
    var footprintAfter: Int64?
  }

  /// A private copy of a cache that the removal is tried on.
  struct RehearsalCopy {
    /// The path of the copy.
    let path: String
    /// What the cache takes up, in bytes.
    let footprint: Int64

    /// What the removal has given back so far, in bytes.
    func bytesReturned(by source: any ResponseSource) throws -> Int64 {
      max(0, footprint - (try source.footprint().totalBytes))
    }
  }

  /// Tries a plan out where the user is to be told what goes before it does: which pages of a database become
  /// free only the removal itself shows.
  func rehearsal(
    of plan: RemovalPlan, in environment: CommandEnvironment
  ) throws -> Rehearsal {
    let isShown = change.dryRun || planning.plan != nil || !change.yes || change.maxDelete != nil
    guard isShown, plan.store.format.hasDatabase else {
      return Rehearsal(plan: plan, footprintAfter: plan.footprintAfter)
    }
    // With a backup there is one round, which nothing is measured after.
    guard planning.backup == nil else { return Rehearsal(plan: plan, footprintAfter: nil) }
    var quiet = environment
    quiet.writeMessage = { _ in }
    quiet.record = RunRecord()
    let idle = EnforcementRounds(plan, limit, execution(in: quiet)) { done, _ in done }
    if !idle.hasWork, let result = try rehearsal(by: idle, atMost: 0, unless: { nil }) {
      return result
    }
    guard limit.bytes != nil || limit.minFree != nil else {
      return Rehearsal(plan: plan, footprintAfter: lengthKept(after: plan))
    }
    do {
      return try rehearsal(of: plan, onCopyIn: quiet)
        ?? Rehearsal(plan: plan, footprintAfter: nil)
    } catch {
      environment.note("an estimate, as it could not be tried on a copy: \(error)")
      return Rehearsal(plan: plan, footprintAfter: nil)
    }
  }

  /// Tries a plan on a copy; `nil` if there is no way to copy the cache, or no time.
  private func rehearsal(
    of plan: RemovalPlan, onCopyIn environment: CommandEnvironment
  ) throws -> Rehearsal? {
    // They come when the copy is gone.
    let signals = HeldSignals()
    let source = try cache.openForPlanning(in: environment)
    guard let trial = try (source as? any TrialSource)?.makeTrial() else { return nil }
    try source.finish()
    let copy = RehearsalCopy(path: trial.path, footprint: plan.footprint.totalBytes)
    var first = plan
    first.store.path = trial.path
    let rounds = EnforcementRounds(first, limit, execution(in: environment)) { _, round in
      try self.plan(in: environment, for: round, of: copy)
    }
    var result = try rehearsal(by: rounds, atMost: mostRounds) { environment.stopReason(signals) }
    result?.plan.store = plan.store
    if plan.store.inUse {
      // How large the log of another process is then depends on it.
      result?.footprintAfter = nil
      if result?.plan.meetsLimits == true { result?.plan.meetsLimits = nil }
    }
    return result
  }

  /// Carries out rounds; `nil` if they were stopped.
  private func rehearsal(
    by rounds: EnforcementRounds, atMost count: Int, unless stopReason: () -> StopReason?
  ) throws -> Rehearsal? {
    var rounds = rounds
    try rounds.carryOut(atMost: count, unless: stopReason)
    guard rounds.stop == nil else { return nil }
    return Rehearsal(plan: rounds.total.done, footprintAfter: rounds.plan.footprint.totalBytes)
  }

  /// What the cache takes up after a removal that gives back no page, in bytes, if that can be told.
  private func lengthKept(after plan: RemovalPlan) -> Int64? {
    if plan.store.inUse { return nil }
    // Whoever closes the database takes the log away.
    return plan.footprintAfter + plan.footprint.closedBytes - plan.footprint.totalBytes
  }

  /// What carries plans out.
  func execution(in environment: CommandEnvironment) -> PlanExecution {
    PlanExecution(cache: cache, change: change, environment: environment)
  }
}
