public import Bytes
public import ResponseStorage

/// What a removal did to a cache, or in a dry run would do.
///
/// Every command that removes entries makes one: `purge`, `enforce`, `apply`, `check --repair` and `revalidate`. What a
/// store reports of a single removal is a ``Removal``.
public struct RemovalReceipt {
  /// The entries and body files that were left because the removal was stopped.
  public struct Remainder: Hashable, Sendable {
    /// The number of entries.
    public let entries: Int
    /// The number of body files that no entry refers to.
    public let orphans: Int
    /// Why the removal was stopped.
    public let reason: StopReason

    /// The number of entries and files.
    public var count: Int64 { Int64(entries) + Int64(orphans) }
  }

  /// The plan, with only what was removed.
  public var plan: RemovalPlan
  /// The number of entries that were kept because they had changed or were gone.
  public var skipped = 0
  /// The number of orphans that were kept because they had changed or were gone.
  public private(set) var skippedOrphans = 0
  /// The number of body files that no entry refers to any more and that could not be removed.
  public private(set) var orphanedFiles = 0
  /// The lengths of the removed files, in bytes: what goes back to the file system at once.
  public private(set) var returnedBytes: ByteCount
  /// What the cache takes up afterwards, in bytes; `nil` if that is not known.
  public var footprintAfter: ByteCount?
  /// What was left because the removal was stopped; `nil` if it was not stopped, or nothing was left.
  public private(set) var remainder: Remainder?
  /// The error that ended the removal early.
  public private(set) var failure: (any Error)?

  /// Creates the receipt of a dry run, by which everything would be removed.
  ///
  /// - Complexity: O(*n*), where *n* is the number of entries in the plan.
  public init(previewing plan: RemovalPlan) {
    self.plan = plan
    returnedBytes = plan.returnedBytes
    footprintAfter = plan.footprintAfter
  }

  /// Creates the receipt of a removal that has not begun.
  public init(before plan: RemovalPlan) {
    self.plan = plan
    (self.plan.entries, self.plan.orphans, self.plan.meetsLimits) = ([], [], nil)
    returnedBytes = 0
    footprintAfter = plan.footprint.totalBytes
  }

  /// Creates the receipt of a plan of which a store did `removal`.
  ///
  /// - Parameters:
  ///   - reason: Why it was stopped, if it was.
  ///   - failure: The error that ended it early.
  /// - Complexity: O(*n*), where *n* is the number of entries in the plan.
  public init(
    of plan: RemovalPlan, _ removal: Removal, stoppedBy reason: StopReason?,
    _ failure: (any Error)?
  ) {
    self.plan = plan
    self.plan.restrict(to: removal)
    skipped = removal.skipped.count
    skippedOrphans = removal.skippedOrphans.count
    orphanedFiles = removal.orphanedFiles
    returnedBytes = removal.returnedBytes
    // A file that could not be removed still takes up its bytes.
    footprintAfter =
      self.plan.footprintAfter + max(0, self.plan.returnedBytes - removal.returnedBytes)
    self.failure = failure
    guard failure == nil, let reason else { return }
    let left = Remainder(
      entries: plan.entries.count - removal.visited,
      orphans: plan.orphans.count - removal.visitedOrphans, reason: reason)
    remainder = left.count > 0 ? left : nil
  }

  /// Whether everything was removed that was planned.
  public var isComplete: Bool {
    failure == nil && skipped == 0 && skippedOrphans == 0 && orphanedFiles == 0 && remainder == nil
  }

  /// Adds the receipt of the next plan for the same cache, in a round from 1 on.
  public mutating func add(_ next: consuming RemovalReceipt, ofRound round: UInt8) {
    if round > 1 { next.setRound(round) }
    if plan.entries.isEmpty {
      // Even nothing that is appended to an array copies it where another owner has it, too.
      swap(&plan.entries, &next.plan.entries)
    } else {
      plan.entries += next.plan.entries
    }
    plan.orphans += next.plan.orphans
    skipped += next.skipped
    skippedOrphans += next.skippedOrphans
    orphanedFiles += next.orphanedFiles
    returnedBytes += next.returnedBytes
    footprintAfter = next.footprintAfter
    (remainder, failure) = (next.remainder, next.failure)
  }

  private mutating func setRound(_ round: UInt8) {
    for index in plan.entries.indices { plan.entries[index].round = round }
  }
}
