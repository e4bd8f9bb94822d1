import Administration
import Bytes
import Files
import ResponseStorage

extension URLCacheAdmin.Enforce {
  /// What a plan comes to, with all rounds, and what the cache takes up then.
  struct Rehearsal {
    /// What goes in all rounds; of a cache that could not be tried on, what the first plan says.
    var plan: RemovalPlan
    /// What the cache takes up then, in bytes, if that can be told.
    var footprintAfter: ByteCount?
    /// Whether the plan was tried on a copy.
    var isTried = false
    /// What the copy took up in the end, in bytes, also if the plan was refused.
    var bytesAfter: ByteCount = 0
    /// By how much the log of the copy became longer, in bytes.
    var logGrowth: ByteCount = 0
    /// The limits that the copy did not meet.
    var unmet: [UnmetLimit] = []
  }

  /// A private copy of a cache that the removal is tried on.
  struct RehearsalCopy {
    /// The path of the copy.
    let path: String
    /// What the cache takes up, in bytes.
    let footprint: ByteCount

    /// What the removal has given back so far, in bytes.
    func bytesReturned(by source: any ResponseSource) throws -> ByteCount {
      max(0, footprint - (try source.footprint().totalBytes))
    }
  }

  /// Tries a plan out where the user is to be told what is removed before it is, and where only that shows whether the
  /// limits can be met: which pages of a database become free only the removal itself shows.
  func rehearsal(
    of plan: RemovalPlan, in environment: CommandEnvironment
  ) throws -> Rehearsal {
    if plan.shortfall != nil, !bestEffort {
      return Rehearsal(plan: plan, footprintAfter: plan.footprint.totalBytes)
    }
    let isShown = change.dryRun || planning.plan != nil || !change.yes || change.maxDelete != nil
    guard plan.store.format.hasDatabase,
      isShown || plan.needsTrial && !bestEffort || planning.backup != nil
    else { return Rehearsal(plan: plan, footprintAfter: plan.footprintAfter) }
    var quiet = environment
    quiet.writeMessage = { _ in }
    quiet.record = RunRecord()
    let idle = EnforcementRounds(plan, limit, execution(in: quiet)) { done, _ in done }
    if !idle.hasWork, let result = try rehearsal(by: idle, of: plan, atMost: 0, unless: { nil }) {
      return result
    }
    guard limit.bytes != nil || limit.minFree != nil else {
      return Rehearsal(plan: plan, footprintAfter: lengthKept(after: plan))
    }
    do {
      return try rehearsal(of: plan, onCopyIn: quiet)
        ?? Rehearsal(plan: plan, footprintAfter: nil)
    } catch {
      if plan.needsTrial, !bestEffort { throw Self.withoutTrial(error) }
      environment.note("an estimate, as it could not be tried on a copy: \(error)")
      return Rehearsal(plan: plan, footprintAfter: nil)
    }
  }

  /// Says why nothing is removed where only a copy would show whether the limits can be met.
  private static func withoutTrial(_ error: any Error) -> any Error {
    let store = error as? StoreError
    // The next try may do, and may be made by '--if-busy'.
    if store?.code == .inUse || store?.code == .changedWhileReading { return error }
    return CommandFailure(
      .inputOutput, kind: "io",
      "only a copy shows whether the limits can be met, so nothing was removed: \(error)",
      hint: "set TMPDIR to a folder with room for a copy, or use '--best-effort'",
      path: store?.path)
  }

  /// Tries a plan on a copy; `nil` if there is no way to copy the cache, or no time.
  private func rehearsal(
    of plan: RemovalPlan, onCopyIn environment: CommandEnvironment
  ) throws -> Rehearsal? {
    if !bestEffort, planning.backup != nil || plan.store.inUse {
      return try wholeRehearsal(of: plan, in: environment)
    }
    return try withTrial(in: environment) { trial, environment in
      try rehearsal(of: plan, on: trial, atMost: mostRounds, in: environment)
    } ?? nil
  }

  /// Calls `body` with a copy of the cache, and an environment in which commands open the copy.
  private func withTrial<Result>(
    in environment: CommandEnvironment,
    _ body: (StoreTrial, CommandEnvironment) throws -> Result
  ) throws -> Result? {
    let source = try cache.openForPlanning(in: environment)
    guard let trial = try (source as? any TrialSource)?.makeTrial() else { return nil }
    try source.finish()
    var environment = environment
    environment.openSource = { _, _, _ in try trial.source() }
    environment.openStore = { _, _, _ in try trial.store() }
    // The copy goes with its owner.
    return try withExtendedLifetime(trial) { try body(trial, environment) }
  }

  private func rehearsal(
    of plan: RemovalPlan, on trial: StoreTrial, atMost count: Int,
    in environment: CommandEnvironment
  ) throws -> Rehearsal? {
    let signals = HeldSignals()
    let copy = RehearsalCopy(path: trial.path, footprint: plan.footprint.totalBytes)
    var first = plan
    first.store.path = trial.path
    let rounds = EnforcementRounds(first, limit, execution(in: environment)) { _, round in
      try self.plan(in: environment, for: round, of: copy)
    }
    var result = try rehearsal(by: rounds, of: plan, atMost: count) {
      environment.stopReason(signals)
    }
    result?.isTried = true
    return result
  }

  /// Finds out what has to be removed at once, where there is no second round: a backup holds what the first removes, and
  /// the log of another process becomes longer with each.
  ///
  /// Each try has a copy of its own, and removes what is tried in the way in which it will be.
  private func wholeRehearsal(
    of plan: RemovalPlan, in environment: CommandEnvironment
  ) throws -> Rehearsal? {
    let isUnderway = plan.entries.contains { $0.reason == .overSize }
    let mostTries = 7
    var (candidate, margin) = (plan, 0 as ByteCount)
    for number in 1...mostTries {
      let tried = try withTrial(in: environment) { trial, environment in
        try rehearsal(of: candidate, on: trial, atMost: 1, in: environment)
      }
      guard var result = tried ?? nil else { return nil }
      // How long the log becomes depends on how fast this machine is.
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
        return Rehearsal(
          plan: refused, footprintAfter: plan.footprint.totalBytes, isTried: true)
      }
      // In the last try everything is removed that may be.
      margin = number == mostTries - 1 ? .max / 256 : max(margin * 2, excess, 16_384)
      let round = EnforcementRounds.Round(isUnderway: isUnderway, margin: margin)
      candidate = try self.plan(in: environment, for: round)
    }
    return nil
  }

  /// Carries out rounds; `nil` if they were stopped.
  ///
  /// - Parameter first: The plan that they began with; if the limits cannot be met, it is refused.
  private func rehearsal(
    by rounds: EnforcementRounds, of first: RemovalPlan, atMost count: Int,
    unless stopReason: () -> StopReason?
  ) throws -> Rehearsal? {
    var rounds = rounds
    try rounds.carryOut(atMost: count, unless: stopReason)
    guard rounds.stop == nil else { return nil }
    var result = Rehearsal(plan: first)
    result.unmet = rounds.total.done.meetsLimits == false ? rounds.unmet : []
    result.bytesAfter = rounds.plan.footprint.totalBytes
    result.logGrowth = max(0, rounds.plan.footprint.walBytes - first.footprint.walBytes)
    if !result.unmet.isEmpty, !bestEffort {
      result.plan.refuse(result.unmet)
      result.footprintAfter = first.footprint.totalBytes
      return result
    }
    rounds.explainShortfall()
    result.plan = rounds.total.done
    result.plan.store = first.store
    result.footprintAfter = result.bytesAfter
    return result
  }

  /// What the cache takes up after a removal that gives back no page, in bytes, if that can be told.
  private func lengthKept(after plan: RemovalPlan) -> ByteCount? {
    if plan.store.inUse { return nil }
    // Whoever closes the database takes the log away.
    return plan.footprintAfter + (plan.footprint.closedBytes - plan.footprint.totalBytes)
  }

  /// What carries plans out.
  func execution(in environment: CommandEnvironment) -> PlanExecution {
    PlanExecution(cache: cache, change: change, environment: environment)
  }
}
