import Administration
import Bytes
import Files
import ResponseStorage

extension URLCacheAdmin.Enforce {
  /// Simulates a plan if the user sees a preview, and if only a simulation can show whether the limits can be met:
  /// which pages of a database become free is only known after entries are removed.
  func simulation(
    of plan: RemovalPlan, in environment: CommandEnvironment
  ) throws -> RemovalSimulation {
    // A refused plan removes nothing, so there is nothing to simulate.
    if plan.shortfall != nil, !bestEffort {
      return RemovalSimulation(plan: plan, footprintAfter: plan.footprint.totalBytes)
    }
    // A simulation may copy the whole cache, so run it only if its result is needed.
    let isShown = change.dryRun || planning.plan != nil || !change.yes || change.maxDelete != nil
    guard plan.store.format.hasDatabase,
      isShown || plan.needsSimulation && !bestEffort || planning.backup != nil
    else { return RemovalSimulation(plan: plan, footprintAfter: plan.footprintAfter) }
    // A simulation must not write messages, and must not count as a run.
    var quiet = environment
    quiet.writeMessage = { _ in }
    // The metrics of a run would otherwise count the removals from the copy.
    quiet.record = RunRecord()
    quiet.progress = nil
    // If no round has work, no copy is needed.
    let idle = EnforcementRounds(plan, keeping: limit.ofSizeAndNumber, execution(in: quiet)) {
      done, _ in done.plan
    }
    if !idle.hasWork, let result = try simulation(by: idle, of: plan, atMost: 0, unless: { nil }) {
      return result
    }
    guard limit.bytes != nil || limit.minFree != nil else {
      return RemovalSimulation(plan: plan, footprintAfter: lengthKept(after: plan))
    }
    do {
      return try environment.showingProgress("Simulating on a copy", of: nil) {
        try simulation(of: plan, onCopyIn: quiet)
          ?? RemovalSimulation(plan: plan, footprintAfter: nil)
      }
    } catch {
      // All or nothing is the promise of this command: without knowing that the limits can be met,
      // no entry is removed.
      if plan.needsSimulation, !bestEffort { throw Self.withoutCopy(error) }
      environment.note(
        "this is an estimate, because there is no room for a copy to simulate on: \(error)")
      return RemovalSimulation(plan: plan, footprintAfter: nil)
    }
  }

  /// Returns the failure of a command that removes nothing because it cannot make a copy for the simulation.
  private static func withoutCopy(_ error: any Error) -> any Error {
    let store = error as? StoreError
    // Another attempt may succeed, for instance by '--if-busy'.
    if store?.code == .inUse || store?.code == .changedWhileReading { return error }
    return CommandFailure(
      .inputOutput, kind: "io",
      "nothing was removed: checking whether the limits can be met needs a copy of the cache: \(error)",
      hint: "set TMPDIR to a folder with room for a copy, or use '--best-effort'",
      path: store?.path)
  }

  /// Simulates a plan on a copy; `nil` if the cache cannot be copied, or if there is no time.
  private func simulation(
    of plan: RemovalPlan, onCopyIn environment: CommandEnvironment
  ) throws -> RemovalSimulation? {
    if !bestEffort, planning.backup != nil || plan.store.inUse {
      return try wholeSimulation(of: plan, in: environment)
    }
    return try withCopy(in: environment) { copy, environment in
      try simulation(of: plan, on: copy, atMost: mostRounds, in: environment)
    } ?? nil
  }

  /// Calls `body` with a copy of the cache, and an environment in which commands open the copy.
  private func withCopy<Result>(
    in environment: CommandEnvironment,
    _ body: (PrivateCopy, CommandEnvironment) throws -> Result
  ) throws -> Result? {
    let source = try cache.openForPlanning(in: environment)
    guard let copy = try source.makePrivateCopy() else { return nil }
    try source.finish()
    var environment = environment
    environment.openSource = { _, _, _ in .store(try copy.source()) }
    environment.openStore = { _, _, _ in try copy.store() }
    // The copy is deleted with its owner, so keep that alive.
    return try withExtendedLifetime(copy) { try body(copy, environment) }
  }

  private func simulation(
    of plan: RemovalPlan, on copy: PrivateCopy, atMost count: Int,
    in environment: CommandEnvironment
  ) throws -> RemovalSimulation? {
    let signals = HeldSignals()
    let place = RemovalSimulation.Copy(path: copy.path, footprint: plan.footprint.totalBytes)
    var first = plan
    first.store.path = copy.path
    let rounds = EnforcementRounds(
      first, keeping: limit.ofSizeAndNumber, execution(in: environment)
    ) { done, round in
      try self.plan(in: environment, for: round, of: place, after: done)
    }
    var result = try simulation(by: rounds, of: plan, atMost: count) {
      environment.stopReason(signals)
    }
    result?.ranOnCopy = true
    return result
  }

  /// Finds a plan that needs no second round: a backup only contains what the first round removes, and each round makes
  /// the log of another process longer.
  ///
  /// Each attempt uses a new copy, and removes entries from it like the real removal.
  private func wholeSimulation(
    of plan: RemovalPlan, in environment: CommandEnvironment
  ) throws -> RemovalSimulation? {
    let mostTries = 7
    var (candidate, margin) = (plan, 0 as ByteCount)
    for number in 1...mostTries {
      let tried = try withCopy(in: environment) { copy, environment in
        try simulation(of: candidate, on: copy, atMost: 1, in: environment)
      }
      guard var result = tried ?? nil else { return nil }
      // The growth of the log depends on timing, so add a reserve.
      let spare = plan.store.inUse ? max(65_536, result.logGrowth / 4) : 0
      let excess = limit.bytes.map { result.bytesAfter + spare - $0 } ?? 0
      if plan.store.inUse { result.footprintAfter = nil }
      if result.plan.meetsLimits != false && excess <= 0 { return result }
      if number == mostTries || plan.entries.isEmpty {
        var refused = plan
        refused.refuse(
          limit.bytes.map {
            let reachable = result.bytesAfter + spare
            return [UnmetLimit(kind: .bytes, limit: $0.bytes, reachable: reachable.bytes)]
          } ?? result.unmet)
        return RemovalSimulation(
          plan: refused, footprintAfter: plan.footprint.totalBytes, ranOnCopy: true)
      }
      // The last attempt removes everything that may be removed.
      margin = number == mostTries - 1 ? .max / 256 : max(margin * 2, excess, 16_384)
      let round = CacheLimits.Round(startedOverLimit: plan.startedOverLimit, margin: margin)
      candidate = try self.plan(in: environment, for: round)
    }
    return nil
  }

  /// Runs rounds; `nil` if they were stopped.
  ///
  /// - Parameter first: The plan of the first round; it is refused if the limits cannot be met.
  private func simulation(
    by rounds: EnforcementRounds, of first: RemovalPlan, atMost count: Int,
    unless stopReason: () -> StopReason?
  ) throws -> RemovalSimulation? {
    var rounds = rounds
    try rounds.carryOut(atMost: count, unless: stopReason)
    guard rounds.stop == nil else { return nil }
    var result = RemovalSimulation(plan: first)
    result.unmet = rounds.total.plan.meetsLimits == false ? rounds.unmet : []
    result.bytesAfter = rounds.plan.footprint.totalBytes
    result.logGrowth = max(0, rounds.plan.footprint.walBytes - first.footprint.walBytes)
    if !result.unmet.isEmpty, !bestEffort {
      result.plan.refuse(result.unmet)
      result.footprintAfter = first.footprint.totalBytes
      return result
    }
    rounds.explainShortfall()
    result.plan = rounds.total.plan
    result.plan.store = first.store
    result.footprintAfter = result.bytesAfter
    return result
  }

  /// Returns the size on disk after a removal that frees no page, in bytes; `nil` if unknown.
  private func lengthKept(after plan: RemovalPlan) -> ByteCount? {
    if plan.store.inUse { return nil }
    // SQLite deletes the log when the last process closes the database.
    return plan.footprintAfter + (plan.footprint.closedBytes - plan.footprint.totalBytes)
  }

  /// Returns the executor of plans.
  func execution(in environment: CommandEnvironment) -> PlanExecution {
    PlanExecution(cache: cache, change: change, environment: environment)
  }
}
