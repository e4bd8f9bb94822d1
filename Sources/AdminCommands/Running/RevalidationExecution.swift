import Administration
import Files
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

  /// Refreshes and removes entries.
  ///
  /// - Parameter shouldStop: Called repeatedly; `true` stops the execution.
  /// - Returns: The entries that were skipped because they had changed, were already removed, or because of a stop.
  func run(unless shouldStop: () -> Bool) throws -> Set<StoredResponse.ID> {
    var skipped: Set<StoredResponse.ID> = []
    var refreshed = 0
    // A batch reads the store in one pass, which needs the entries in ascending order of ids.
    var rest = plan.entries.filter { [.freshen, .replace, .complete].contains($0.action) }
      .sorted { $0.result.request.version.id < $1.result.request.version.id }[...]
    do {
      while !rest.isEmpty, !shouldStop() {
        let batch = Array(rest.prefix(Self.batchSize))
        let left = try refresh(batch, unless: shouldStop)
        rest = rest.dropFirst(batch.count)
        refreshed += batch.count - left.count
        skipped.formUnion(left)
      }
    } catch is RefreshInterruption {
      // The interrupted batch was undone.
    } catch {
      if refreshed > 0 {
        let entries = Confirmation.counted(refreshed, "entry", "entries")
        environment.note("refreshed \(entries) before the error")
      }
      throw error
    }
    skipped.formUnion(rest.map { $0.result.request.version.id })
    skipped.formUnion(try remove(unless: shouldStop))
    if shouldStop() { environment.note("stopped by a signal; the remaining entries were skipped") }
    return skipped
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

  private func remove(unless shouldStop: () -> Bool) throws -> Set<StoredResponse.ID> {
    let entries = plan.entries.filter { $0.action == .remove }.map(\.result.request)
      .map {
        RemovalPlan.Entry(
          version: $0.version, url: $0.url, size: $0.bodySize, hasBodyFile: false, reason: .selected
        )
      }
      .sorted { $0.version.id < $1.version.id }
    guard !entries.isEmpty else { return [] }
    let receipt = PlanExecution(cache: cache, change: change, environment: environment)
      .carryOut(try removalPlan(of: entries)) { shouldStop() ? .signal : nil }
    if let failure = receipt.failure {
      receipt.reportBeforeFailure(in: environment)
      throw failure
    }
    receipt.reportRemainder(in: environment)
    var left = Set(entries.map(\.version.id))
    try receipt.plan.entries.forEach { left.remove($0.version.id) }
    return left
  }

  /// Plans to remove the entries that have not changed since their requests were created.
  private func removalPlan(of entries: [RemovalPlan.Entry]) throws -> RemovalPlan {
    let source = try cache.open(in: environment)
    let store = source.description
    let folder = environment.temporaryFolder
    let saved = SavedPlan(
      path: path, format: store.format, identity: store.identity,
      entries: try RemovalPlan.EntryList(entries, in: folder))
    let plan = try RemovalPlan(
      applying: saved, to: source, keeping: cache.pins(in: environment), temporaryFolder: folder)
    try source.finish()
    return plan
  }
}
