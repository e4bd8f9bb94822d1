import Administration
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin.Compact {
  /// Overwrites what removed entries left in the files of a cache, and verifies that.
  func runSecurely(
    on store: StoreDescription, _ before: Footprint, in environment: CommandEnvironment
  ) throws -> ExitStatus {
    var compaction = Compaction(store: store, before: before)
    let survey = try survey(in: environment)
    compaction.orphans = survey.files.count
    guard !dryRun else {
      compaction.erasure = .planned(for: store)
      try write(compaction, environment)
      return .done
    }
    // Hold signals, so that one ends the process only after the receipt.
    environment.record.holdSignals()
    let signals = HeldSignals()
    func shouldStop() -> Bool { environment.stopReason(signals) != nil }
    let secure = SecureRemoval(
      waiting: cache.waitMilliseconds, skippingCheck: noVerify, in: environment)
    try secure.collectRemains(of: store)
    var removal = Removal()
    var failure: (any Error)?
    do {
      try secure.remove(survey, from: store.path, into: &removal, unless: shouldStop)
    } catch {
      failure = error
    }
    compaction.orphans =
      removal.visitedOrphans - removal.skippedOrphans.count - removal.orphanedFiles
    if let failure, compaction.orphans == 0 { throw failure }
    var erasure: ErasureReceipt
    if let failure {
      erasure = .failed(failure, for: store)
    } else {
      (erasure, failure) = secure.finish(
        store, linkedFiles: removal.linkedFiles, unless: shouldStop)
    }
    erasure.keptOrphans = survey.young.files + survey.undecided.files
    compaction.method =
      erasure.isErased ? .rewrite : erasure.inUse ? .slices : CompactionMethod.none
    if !store.format.hasDatabase { compaction.method = CompactionMethod.none }
    compaction.erasure = erasure
    // After a failure, too, what was removed is said.
    do { compaction.after = try measured(in: environment).footprint } catch {
      failure = failure ?? error
    }
    compaction.stopReason = erasure.isStopped ? environment.stopReason(signals) : nil
    try write(compaction, environment)
    if let failure { throw failure }
    if let reason = compaction.stopReason { environment.note("stopped by \(reason.words)") }
    environment.note(orphanedFiles: removal.orphanedFiles)
    erasure.suggestNextCommand(for: store.path, in: environment)
    return erasure.isComplete && removal.orphanedFiles == 0 ? .done : .partly
  }

  /// Returns the files to which no entry refers, and closes the cache.
  private func survey(in environment: CommandEnvironment) throws -> OrphanSurvey {
    let source = try cache.openForPlanning(in: environment)
    let survey = try source.orphans(at: environment.now)
    try source.finish()
    return survey
  }
}
