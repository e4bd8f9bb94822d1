import Administration
import Bytes
import ResponseStorage

/// The rounds in which a cache is made to keep limits, or a copy of it in a simulation.
///
/// Which pages of a database become free shows only when entries are removed. So what is left is measured after each
/// round, and if it is still too much, the next round removes a little more than seems to be needed, and each time twice
/// as much, as a few entries can give back no page at all.
struct EnforcementRounds {
  private let limits: CacheLimits
  private let execution: PlanExecution
  private let measure: (RemovalPlan, CacheLimits.Round) throws -> RemovalPlan
  /// What all files are to take up, in bytes.
  private let goal: ByteCount?

  /// What all rounds have done.
  private(set) var total: RemovalReceipt
  /// The plan for the next round, of the cache as it was measured last.
  private(set) var plan: RemovalPlan
  /// Whether the cache was over its limit of size before the first round.
  private let startedOverLimit: Bool
  /// Why the rounds were stopped, if they were; what is left was not measured then.
  private(set) var stop: StopReason?

  /// Begins with a plan.
  ///
  /// - Parameters:
  ///   - limits: The limits of size and number; how much room the file system has is part of the plans.
  ///   - measure: Makes a plan for the next round, of the cache as it is when one was carried out.
  init(
    _ plan: RemovalPlan, keeping limits: CacheLimits, _ execution: PlanExecution,
    measuring measure: @escaping (RemovalPlan, CacheLimits.Round) throws -> RemovalPlan
  ) {
    self.plan = plan
    self.limits = limits
    self.execution = execution
    self.measure = measure
    startedOverLimit = plan.startedOverLimit
    goal = startedOverLimit ? limits.bytes.map { limits.low($0) } : limits.bytes
    total = RemovalReceipt(before: plan)
  }

  /// Carries out one round after the other, until the limits are kept or nothing changes any more.
  mutating func carryOut(atMost rounds: Int, unless stopReason: () -> StopReason?) throws {
    var count = 0
    // The entries of one round are sorted, and sorting copies them where another owner has them, too.
    defer { if count > 1 { total.plan.entries.sort { $0.version.id < $1.version.id } } }
    while count < rounds, hasWork {
      count += 1
      // What was sound before the first round is so before the next.
      let receipt = execution.carryOut(
        plan, shrinking: mustShrink, verifying: count == 1, unless: stopReason)
      // There may be a million entries: they are kept once.
      (plan.entries, plan.orphans) = ([], [])
      let before = plan
      total.add(receipt, ofRound: UInt8(clamping: count))
      do {
        if let failure = total.failure { throw failure }
        // To measure everything once more would make the user wait who wants it to end.
        stop = stopReason()
        if stop != nil { return }
        plan = try measure(
          before,
          CacheLimits.Round(startedOverLimit: startedOverLimit, margin: margin(count - 1)))
      } catch {
        total.reportBeforeFailure(in: execution.environment)
        throw error
      }
      // Where files cannot be removed, more entries would be removed for nothing.
      if total.orphanedFiles > 0 { break }
      if plan.footprint == before.footprint, plan.storedEntries == before.storedEntries { break }
    }
    // The last plan tells why each remaining entry is kept.
    if plan.entries.isEmpty { total.plan.kept = plan.kept }
    // What would be removed only to reach the low mark keeps no limit from being kept.
    total.plan.meetsLimits =
      plan.entries.allSatisfy { $0.reason == .overSize } && plan.meetsLimits != false
      && exceeded.isEmpty
  }

  /// How much more is removed than seems to be needed after so many rounds, in bytes: half a page at first, and in the end
  /// everything, so that a limit is not met only where it cannot be.
  private func margin(_ rounds: Int) -> ByteCount {
    let share = (goal ?? 0) / 1_024
    return rounds < 8
      ? max(2_048 * (1 << rounds), share) : max(2_048, share) * (1 << min(rounds - 6, 16))
  }

  /// Whether there is anything to do: files or entries to remove, or room to give back.
  var hasWork: Bool { !plan.isEmpty || mustShrink && canShrink }

  /// Notes why limits are not met, if they are not.
  mutating func explainShortfall() {
    let unmet = total.plan.meetsLimits == false ? self.unmet : []
    total.plan.shortfall =
      unmet.isEmpty ? nil : LimitShortfall(unmet, of: plan, plan.survey)
  }

  /// The limits that are not met, as the cache was measured last.
  var unmet: [UnmetLimit] {
    var unmet = exceeded
    if plan.bytesToFree > 0, plan.meetsLimits == false || unmet.isEmpty {
      let before = total.plan.footprint.totalBytes
      unmet.append(
        UnmetLimit(
          kind: .bytesToFree, limit: total.plan.bytesToFree.bytes,
          reachable: max(0, before - plan.footprint.totalBytes).bytes))
    }
    return unmet
  }

  /// The limits of size and number that the cache exceeds, as it was measured last.
  private var exceeded: [UnmetLimit] {
    limits.unmet(
      bytes: plan.footprint.totalBytes, entries: plan.storedEntries - plan.orphanEntries)
  }

  /// Whether the files take up more than they are to.
  private var mustShrink: Bool {
    goal.map { plan.footprint.totalBytes - min(plan.footprint.totalBytes, plan.orphanBytes) > $0 }
      ?? (limits.bytesToFree != nil)
  }

  /// Whether room comes back without any entry.
  private var canShrink: Bool {
    let footprint = plan.footprint
    return footprint.freeBytes > 0
      || !plan.store.inUse && footprint.closedBytes < footprint.totalBytes
  }
}

extension RemovalPlan {
  /// Whether the cache took up more than it may when the plan was made.
  var startedOverLimit: Bool { entries.contains { $0.reason == .overSize } }
}
