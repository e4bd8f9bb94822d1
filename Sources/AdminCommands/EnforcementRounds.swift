import Administration
import ResponseStorage

/// The rounds in which a cache is made to keep limits.
///
/// Which pages of a database become free shows only when entries are gone: so what is left is measured after
/// each round, and if it is still too much, more goes.
struct EnforcementRounds {
  private let limit: LimitOptions
  private let execution: PlanExecution
  private let measure: (RemovalPlan) throws -> RemovalPlan

  /// What all rounds have done.
  private(set) var total: RemovalOutcome
  /// What is still to go, of the cache as it is.
  private(set) var plan: RemovalPlan
  /// Why it was stopped, if it was, and what is left was not measured.
  private(set) var stop: StopReason?

  /// Begins with a plan.
  ///
  /// - Parameter measure: Makes a plan of the cache as it is when one was carried out.
  init(
    _ plan: RemovalPlan, _ limit: LimitOptions, _ execution: PlanExecution,
    measuring measure: @escaping (RemovalPlan) throws -> RemovalPlan
  ) {
    self.plan = plan
    self.limit = limit
    self.execution = execution
    self.measure = measure
    total = RemovalOutcome(before: plan)
  }

  /// Carries out one round after the other, until the limits are kept or nothing changes any more.
  mutating func carryOut(atMost rounds: Int, unless stopReason: () -> StopReason?) throws {
    defer { total.done.entries.sort { $0.version.id < $1.version.id } }
    var count = 0
    while count < rounds, !plan.entries.isEmpty || mustShrink && canShrink {
      let before = plan.footprint
      let outcome = execution.carryOut(plan, shrinking: mustShrink, unless: stopReason)
      total.add(outcome)
      do {
        if let failure = outcome.failure { throw failure }
        // Whoever wants it to end does not wait until all is measured once more.
        stop = stopReason()
        if stop != nil { return }
        plan = try measure(outcome.done)
      } catch {
        total.tellBeforeFailure(in: execution.environment)
        throw error
      }
      // Where files cannot be removed, more entries would go for nothing.
      if plan.footprint == before || total.orphanedFiles > 0 { break }
      count += 1
    }
    total.done.meetsLimits = plan.entries.isEmpty && plan.meetsLimits != false && !isOver
  }

  /// Whether the files take up more than they may.
  private var mustShrink: Bool {
    limit.bytes.map { plan.footprint.totalBytes > $0 } ?? (limit.minFree != nil)
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
