import Administration
import Bytes
import ResponseStorage

/// The rounds that bring a cache within its limits, or a copy of it in a simulation.
///
/// Which pages of a database become free is only known after entries are removed. So the cache is measured after each
/// round. If it is still over a limit, the next round removes a bit more than estimated, doubling the margin each time,
/// because a few entries may free no page at all.
struct EnforcementRounds {
  private let limits: CacheLimits
  private let execution: PlanExecution
  private let measure: (Done, CacheLimits.Round) throws -> RemovalPlan
  /// The target for the size on disk, in bytes.
  private let goal: ByteCount?

  /// The combined receipt of all rounds.
  private(set) var total: RemovalReceipt
  /// The plan for the next round, from the latest measurement.
  private(set) var plan: RemovalPlan
  /// Whether the cache was over its size limit before the first round.
  private let startedOverLimit: Bool
  /// Why the rounds were stopped, if they were; the cache was then not measured again.
  private(set) var stop: StopReason?

  /// An executed plan.
  struct Done {
    /// The plan, without its entries and orphans.
    let plan: RemovalPlan
    /// The number of entries that should be left; `nil` if the plan was not executed completely.
    let remainingEntries: Int64?
  }

  /// Creates rounds that start with a plan.
  ///
  /// - Parameters:
  ///   - limits: The limits of size and number; the free space on the file system is part of the plans.
  ///   - measure: Creates the plan for the next round, from the cache after the last one.
  init(
    _ plan: RemovalPlan, keeping limits: CacheLimits, _ execution: PlanExecution,
    measuring measure: @escaping (Done, CacheLimits.Round) throws -> RemovalPlan
  ) {
    self.plan = plan
    self.limits = limits
    self.execution = execution
    self.measure = measure
    startedOverLimit = plan.startedOverLimit
    // Only a cache that was over its limit goes down to the low mark. One between the two would
    // otherwise lose entries in every run.
    goal = startedOverLimit ? limits.bytes.map { limits.low($0) } : limits.bytes
    total = RemovalReceipt(before: plan)
  }

  /// Runs rounds until the cache is within its limits or stops changing.
  mutating func carryOut(atMost rounds: Int, unless stopReason: () -> StopReason?) throws {
    var count = 0
    while count < rounds, hasWork {
      count += 1
      // A database that was sound before the first round needs no check before the next.
      let receipt = execution.carryOut(
        plan, shrinking: mustShrink, verifying: count == 1, unless: stopReason)
      let remaining =
        receipt.isComplete ? plan.storedEntries - Int64(plan.entries.count) : nil
      (plan.entries, plan.orphans) = (RemovalPlan.EntryList(), [])
      let before = plan
      do {
        try total.add(receipt, ofRound: UInt8(clamping: count))
        if let failure = total.failure { throw failure }
        // Do not measure the cache again after a stop: the user is waiting for the command to end.
        stop = stopReason()
        if stop != nil { return }
        plan = try measure(
          Done(plan: before, remainingEntries: remaining),
          CacheLimits.Round(startedOverLimit: startedOverLimit, margin: margin(count - 1)))
      } catch {
        total.reportBeforeFailure(in: execution.environment)
        throw error
      }
      // If body files cannot be removed, removing more entries would be in vain.
      if total.orphanedFiles > 0 { break }
      // If a round removed nothing, the next would not either.
      if plan.footprint == before.footprint, plan.storedEntries == before.storedEntries { break }
    }
    // The last plan contains the reasons for all kept entries.
    if plan.entries.isEmpty { total.plan.kept = plan.kept }
    // Entries that are only over the low mark do not violate a limit.
    total.plan.meetsLimits =
      plan.entries.overSize == plan.entries.count && plan.meetsLimits != false
      && exceeded.isEmpty
  }

  /// Returns the margin after this many rounds, in bytes: half a page at first, and eventually everything, so that a
  /// limit is only missed if it cannot be met.
  private func margin(_ rounds: Int) -> ByteCount {
    let share = (goal ?? 0) / 1_024
    return rounds < 8
      ? max(2_048 * (1 << rounds), share) : max(2_048, share) * (1 << min(rounds - 6, 16))
  }

  /// Whether there is anything to do: files or entries to remove, or space to reclaim.
  var hasWork: Bool { !plan.isEmpty || mustShrink && canShrink }

  /// Records the causes of unmet limits, if there are any.
  mutating func explainShortfall() {
    let unmet = total.plan.meetsLimits == false ? self.unmet : []
    total.plan.shortfall =
      unmet.isEmpty ? nil : LimitShortfall(unmet, of: plan, plan.survey)
  }

  /// The unmet limits, from the latest measurement.
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

  /// The exceeded limits of size and number, from the latest measurement.
  private var exceeded: [UnmetLimit] {
    limits.unmet(
      bytes: plan.footprint.totalBytes, entries: plan.storedEntries - plan.orphanEntries)
  }

  /// Whether the size on disk is over the target.
  private var mustShrink: Bool {
    goal.map { plan.footprint.totalBytes - min(plan.footprint.totalBytes, plan.orphanBytes) > $0 }
      ?? (limits.bytesToFree != nil)
  }

  /// Whether space can be reclaimed without removing entries.
  private var canShrink: Bool {
    let footprint = plan.footprint
    return footprint.freeBytes > 0
      || !plan.store.inUse && footprint.closedBytes < footprint.totalBytes
  }
}

extension RemovalPlan {
  /// Whether the cache was over its size limit when the plan was made.
  var startedOverLimit: Bool { entries.overSize > 0 }
}
