import Administration
import Files
import Rendering
import ResponseStorage
import Revalidation

/// Executes revalidation plans.
struct RevalidationExecution {
  /// The number of entries that are held in memory before the store is opened for writing.
  private static let batchSize = 500

  let plan: RevalidationPlan
  /// The spool with the received bodies.
  let spool: BodySpool?
  /// The path of the store.
  let path: String
  let cache: CacheOptions
  let change: ChangeOptions
  let environment: CommandEnvironment

  /// Refreshes and removes entries, and records in the plan which ones were skipped because they had changed, were
  /// already removed, or because of a stop or a failure.
  ///
  /// - Parameter shouldStop: Called repeatedly; `true` stops the execution.
  /// - Returns: The error that ended it after something was changed, if one did.
  /// - Throws: The error that ended it before.
  func run(unless shouldStop: () -> Bool) throws -> (any Error)? {
    var refreshed = 0
    var failure: (any Error)?
    // A batch reads the store in one pass, which needs the entries in ascending order of ids.
    var rest = try plan.makeRefreshReader()
    var batch = try rest.next(Self.batchSize)
    do {
      while !batch.isEmpty, !shouldStop() {
        let left = try refresh(batch, unless: shouldStop)
        refreshed += batch.count - left.count
        for entry in batch where left.contains(entry.version.id) { plan.skip(entry) }
        batch = try rest.next(Self.batchSize)
      }
    } catch is RefreshInterruption {
      // The interrupted batch was undone.
    } catch {
      guard refreshed > 0 else { throw error }
      let entries = QuantityWords.counted(refreshed, "entry", "entries")
      environment.note("refreshed \(entries) before the error")
      failure = error
    }
    while !batch.isEmpty {
      for entry in batch { plan.skip(entry) }
      batch = try rest.next(Self.batchSize)
    }
    failure = try remove(unless: shouldStop, after: failure, isFirst: refreshed == 0)
    if failure == nil, shouldStop() {
      environment.note("stopped by a signal; the remaining entries were skipped")
    }
    return failure
  }

  private func refresh(
    _ entries: [RevalidationPlan.Entry], unless shouldStop: () -> Bool
  ) throws -> Set<StoredResponse.ID> {
    guard let spool else { return [] }
    var batch = try batch(of: entries, spool)
    let store = try environment.openStore(path, cache.waitMilliseconds, !change.noVerify)
    try batch.carryOut(in: store, unless: shouldStop)
    return batch.skipped
  }

  /// Reads the entries to refresh, and closes the store.
  private func batch(
    of entries: [RevalidationPlan.Entry], _ spool: BodySpool
  ) throws -> RefreshBatch {
    let source = try cache.open(in: environment)
    let batch = try RefreshBatch(of: entries, from: source, spool)
    try source.finish()
    return batch
  }

  /// Removes entries, unless something has failed before.
  ///
  /// - Parameter isFirst: Whether nothing was changed yet.
  /// - Returns: The error that ended the work, if one did.
  private func remove(
    unless shouldStop: () -> Bool, after failure: (any Error)?, isFirst: Bool
  ) throws -> (any Error)? {
    guard plan.count(.remove) > 0 else { return failure }
    var failure = failure
    var done = RemovalPlan.EntryList()
    if failure == nil {
      do {
        let receipt = PlanExecution(cache: cache, change: change, environment: environment)
          .carryOut(try removalPlan()) { shouldStop() ? .signal : nil }
        (done, failure) = (receipt.plan.entries, receipt.failure)
        environment.record.add(receipt.plan)
        environment.record.left = receipt.remainder?.count ?? 0
        if failure == nil {
          receipt.reportRemainder(in: environment)
        } else {
          receipt.noteBeforeFailure(in: environment)
        }
      } catch { failure = error }
    }
    if let failure, isFirst, done.isEmpty { throw failure }
    // Both are in ascending order of ids.
    var removed = done.makeReader()
    var next = try removed.next()
    var planned = try plan.makeRemovalReader()
    while let entry = try planned.next() {
      if entry.version.id == next?.version.id {
        next = try removed.next()
      } else {
        plan.skip(entry)
      }
    }
    return failure
  }

  /// Plans to remove the entries that have not changed since their requests were created.
  private func removalPlan() throws -> RemovalPlan {
    var entries = RemovalPlan.EntryList.Writer()
    var planned = try plan.makeRemovalReader()
    while let entry = try planned.next() {
      try entries.append(
        RemovalPlan.Entry(
          version: entry.version, url: entry.url, size: entry.bodySize, hasBodyFile: false,
          reason: .selected))
    }
    let source = try cache.open(in: environment)
    let store = source.description
    let saved = SavedPlan(
      path: path, format: store.format, identity: store.identity,
      entries: try entries.finish())
    let plan = try RemovalPlan(
      applying: saved, to: source, keeping: cache.pins(in: environment))
    try source.finish()
    return plan
  }
}
