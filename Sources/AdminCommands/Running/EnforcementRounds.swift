import Administration
import Bytes
import ResponseStorage

/// The rounds in which a cache is made to keep limits.
///
/// Which pages of a database become free shows only when entries are gone: so what is left is measured after
/// each round, and if it is still too much, a little more goes than seems to be needed, and each time twice as
/// much, as a few entries can give back no page at all.
struct EnforcementRounds {
  private let limit: LimitOptions
  private let execution: PlanExecution
  private let measure: (RemovalPlan, Round) throws -> RemovalPlan
  /// What all files are to take up, in bytes.
  private let goal: ByteCount?

  /// What all rounds have done.
  private(set) var total: RemovalOutcome
  /// What is still to go, of the cache as it is.
  private(set) var plan: RemovalPlan
  /// Whether the cache was too large at first.
  private let isUnderway: Bool
  /// Why it was stopped, if it was, and what is left was not measured.
  private(set) var stop: StopReason?

  /// What is different in a round that is not the first.
  struct Round {
    /// Whether the cache was too large at first, and is to go down to the low mark.
    var isUnderway: Bool
    /// How much more is to go than seems to be needed, in bytes.
    var margin: ByteCount
  }

  /// Begins with a plan.
  ///
  /// - Parameter measure: Makes a plan for the next round, of the cache as it is when one was carried out.
  init(
    _ plan: RemovalPlan, _ limit: LimitOptions, _ execution: PlanExecution,
    measuring measure: @escaping (RemovalPlan, Round) throws -> RemovalPlan
  ) {
    self.plan = plan
    self.limit = limit
    self.execution = execution
    self.measure = measure
    isUnderway = plan.entries.contains { $0.reason == .overSize }
    goal = isUnderway ? limit.lowBytes : limit.bytes
    total = RemovalOutcome(before: plan)
  }

  /// Carries out one round after the other, until the limits are kept or nothing changes any more.
  mutating func carryOut(atMost rounds: Int, unless stopReason: () -> StopReason?) throws {
    var count = 0
    // Those of one round are sorted, and sorting copies them where somebody else has them, too.
    defer { if count > 1 { total.done.entries.sort { $0.version.id < $1.version.id } } }
    while count < rounds, hasWork {
      count += 1
      // What was sound before the first round is so before the next.
      let outcome = execution.carryOut(
        plan, shrinking: mustShrink, verifying: count == 1, unless: stopReason)
      // There may be a million entries: they are kept once.
      (plan.entries, plan.orphans) = ([], [])
      let before = plan
      total.add(outcome, ofRound: UInt8(clamping: count))
      do {
        if let failure = total.failure { throw failure }
        // Whoever wants it to end does not wait until all is measured once more.
        stop = stopReason()
        if stop != nil { return }
        plan = try measure(before, Round(isUnderway: isUnderway, margin: margin(count - 1)))
      } catch {
        total.tellBeforeFailure(in: execution.environment)
        throw error
      }
      // Where files cannot be removed, more entries would go for nothing.
      if total.orphanedFiles > 0 { break }
      if plan.footprint == before.footprint, plan.storedEntries == before.storedEntries { break }
    }
    // Of what is left it is told why it stays, as the last plan leaves it.
    if plan.entries.isEmpty { total.done.kept = plan.kept }
    // What could go only to reach the low mark keeps no limit from being kept.
    total.done.meetsLimits =
      plan.entries.allSatisfy { $0.reason == .overSize } && plan.meetsLimits != false && !isOver
  }

  /// How much more is to go than seems to be needed after so many rounds, in bytes: half a page at first, and in the end
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
    let unmet = total.done.meetsLimits == false ? self.unmet : []
    total.done.shortfall =
      unmet.isEmpty ? nil : LimitShortfall(unmet, of: plan, plan.survey)
  }

  /// The limits that are not met, as the cache was measured last.
  var unmet: [UnmetLimit] {
    var unmet: [UnmetLimit] = []
    if let most = limit.bytes, plan.footprint.totalBytes > most {
      unmet.append(
        UnmetLimit(kind: .bytes, limit: most.bytes, reachable: plan.footprint.totalBytes.bytes))
    }
    let entries = plan.storedEntries - plan.orphanEntries
    if let most = limit.maxEntries, entries > most {
      unmet.append(UnmetLimit(kind: .entries, limit: most, reachable: entries))
    }
    if plan.bytesToFree > 0, plan.meetsLimits == false || unmet.isEmpty {
      let before = total.done.footprint.totalBytes
      unmet.append(
        UnmetLimit(
          kind: .bytesToFree, limit: total.done.bytesToFree.bytes,
          reachable: max(0, before - plan.footprint.totalBytes).bytes))
    }
    return unmet
  }

  /// Whether the files take up more than they are to.
  private var mustShrink: Bool {
    goal.map { plan.footprint.totalBytes - min(plan.footprint.totalBytes, plan.orphanBytes) > $0 }
      ?? (limit.minFree != nil)
  }

  /// Whether room comes back without any entry.
  private var canShrink: Bool {
    let footprint = plan.footprint
    return footprint.freeBytes > 0
      || !plan.store.inUse && footprint.closedBytes < footprint.totalBytes
  }

  private var isOver: Bool {
    limit.bytes.map { plan.footprint.totalBytes > $0 } ?? false
      || limit.maxEntries.map { plan.storedEntries - plan.orphanEntries > $0 } ?? false
  }
}
