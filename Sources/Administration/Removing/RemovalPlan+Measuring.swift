import Bytes
public import ResponseStorage

extension RemovalPlan {
  /// Creates the plan for what is left after a plan was executed completely, if nothing more has to be removed. It does
  /// not read the entries, which takes most of the time of a plan.
  ///
  /// - Parameters:
  ///   - done: The executed plan.
  ///   - remaining: The number of entries that it should leave.
  /// - Returns: `nil` if the cache still exceeds its limits, or if another process changed it: only a plan from all
  ///   entries can tell then what to do.
  public init?(
    after done: RemovalPlan, leaving remaining: Int64, enforcing limits: CacheLimits,
    on source: any ResponseSource
  ) throws {
    self = done
    (entries, orphans, storedEntries) = (EntryList(), [], remaining)
    (shortfall, needsSimulation, survey) = (nil, false, OrphanSurvey())
    store = source.description
    bytesToFree = limits.bytesToFree ?? 0
    // The files of other stores are measured by reading all of them.
    guard store.format.hasDatabase else { return nil }
    footprint = try source.footprint()
    guard !exceedsRoom(of: limits), !LimitExcess(limits, of: self).isOver,
      try source.count() == remaining
    else { return nil }
    guard limits.onlyIfOver else {
      meetsLimits = true
      return
    }
    // Within the limits, no other reason counts.
    meetsLimits = nil
    guard let byRule = kept.removeValue(forKey: .keptByRule) else { return }
    kept[.withinLimits, default: KeptEntries()].insert(byRule)
  }
}
