import Administration
import Bytes
import ResponseStorage

/// What came of carrying out a plan, or several of them, one after the other.
struct RemovalOutcome {
  /// The plan without what stayed.
  var done: RemovalPlan
  /// The number of entries that had changed or were gone.
  var skipped = 0
  /// The number of files without an entry that had changed or were gone.
  private(set) var skippedOrphans = 0
  /// The number of body files that nothing names any more and that could not be removed.
  private(set) var orphanedFiles = 0
  /// The lengths of the files that are gone, in bytes.
  private(set) var returnedBytes: ByteCount = 0
  /// What was left, and why, as it was stopped.
  private(set) var rest: RemovalRest?
  /// What ended it early.
  private(set) var failure: (any Error)?

  /// Creates the outcome of nothing, as it is before the first plan.
  init(before plan: RemovalPlan) {
    done = plan
    (done.entries, done.orphans, done.meetsLimits) = ([], [], nil)
  }

  /// Creates the outcome of a plan of which `removal` was done.
  ///
  /// - Parameter reason: Why it was to stop, if it was.
  init(
    of plan: RemovalPlan, _ removal: Removal, stoppedBy reason: StopReason?,
    _ failure: (any Error)?
  ) {
    done = plan
    done.leaveOut(removal)
    skipped = removal.skipped.count
    skippedOrphans = removal.skippedOrphans.count
    orphanedFiles = removal.orphanedFiles
    returnedBytes = removal.returnedBytes
    self.failure = failure
    guard failure == nil, let reason else { return }
    rest = RemovalRest(
      entries: plan.entries.count - removal.visited,
      orphans: plan.orphans.count - removal.visitedOrphans, reason: reason)
  }

  /// Whether all was done.
  var isComplete: Bool {
    failure == nil && skipped == 0 && skippedOrphans == 0 && orphanedFiles == 0 && rest == nil
  }

  /// Adds what came of the next plan, in a round, from 1 on.
  mutating func add(_ next: consuming RemovalOutcome, ofRound round: UInt8) {
    if round > 1 { next.number(round) }
    if done.entries.isEmpty {
      // Even nothing that is appended to an array copies it where somebody else has it, too.
      swap(&done.entries, &next.done.entries)
    } else {
      done.entries += next.done.entries
    }
    done.orphans += next.done.orphans
    skipped += next.skipped
    skippedOrphans += next.skippedOrphans
    orphanedFiles += next.orphanedFiles
    returnedBytes += next.returnedBytes
    (rest, failure) = (next.rest, next.failure)
  }

  /// Notes of all entries in which round they went.
  private mutating func number(_ round: UInt8) {
    for index in done.entries.indices { done.entries[index].round = round }
  }

  /// Tells what was done before a failure ended it.
  func tellBeforeFailure(in environment: CommandEnvironment) {
    environment.record.add(done)
    if !done.entries.isEmpty {
      environment.note("removed before that: \(done.entries.count) entries")
    }
    tellOfFiles(in: environment)
  }

  /// Tells what the receipt does not: what was not removed.
  func tellRest(in environment: CommandEnvironment) {
    tellOfFiles(in: environment)
    if let rest {
      let files = rest.orphans > 0 ? " and \(rest.orphans) body files" : ""
      environment.note("stopped by \(rest.reason.words) before \(rest.entries) entries\(files)")
    }
  }

  private func tellOfFiles(in environment: CommandEnvironment) {
    environment.note(orphanedFiles: orphanedFiles)
    if skippedOrphans > 0 {
      environment.note("body files that had changed or were gone, and stayed: \(skippedOrphans)")
    }
  }
}

extension StopReason {
  /// What people call it.
  var words: String {
    switch self {
    case .signal: "a signal"
    case .maxRuntime: "'--max-runtime'"
    }
  }
}

extension CommandEnvironment {
  /// Tells of body files that nothing names any more and that are still there.
  func note(orphanedFiles count: Int) {
    if count > 0 { note("body files that could not be removed: \(count)") }
  }
}
