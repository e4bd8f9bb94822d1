public import Bytes
import Files
public import ResponseStorage

/// What a removal did to a cache, or would do in a dry run.
///
/// Created by every command that removes entries: `purge`, `enforce`, `apply`, `check --repair` and `revalidate`. A
/// store reports a single removal as a ``Removal``.
public struct RemovalReceipt {
  /// The entries and body files that are left because the removal was stopped.
  public struct Remainder: Hashable, Sendable {
    /// The number of entries.
    public let entries: Int
    /// The number of orphans.
    public let orphans: Int
    /// Why the removal was stopped.
    public let reason: StopReason

    /// The number of entries and files.
    public var count: Int64 { Int64(entries) + Int64(orphans) }
  }

  /// The plan, restricted to what was removed.
  public var plan: RemovalPlan
  /// The number of entries that were skipped because they had changed or were already removed.
  public var skipped = 0
  /// The number of orphans that were skipped because they had changed or were already removed.
  public private(set) var skippedOrphans = 0
  /// The number of body files that lost their entry but could not be removed.
  public private(set) var orphanedFiles = 0
  /// The number of body files that stay, because another database in the folder refers to them, or may do so.
  public private(set) var keptFiles = 0
  /// The total length of the removed files that have no other names, in bytes: the space freed at once.
  public private(set) var returnedBytes: ByteCount
  /// The size on disk afterwards, in bytes; `nil` if unknown.
  public var footprintAfter: ByteCount?
  /// What is left because the removal was stopped; `nil` if it was not stopped, or nothing is left.
  public private(set) var remainder: Remainder?
  /// The number of removed files that were not overwritten, because they have other names.
  public private(set) var linkedFiles = 0
  /// The files in which the app has listed entries, perhaps also removed ones, with URLs and header fields.
  public private(set) var listings: [String] = []
  /// What was done so that nothing can be recovered; `nil` if that was not requested.
  public var erasure: ErasureReceipt?
  /// The error that ended the removal early.
  public private(set) var failure: (any Error)?

  /// Creates the receipt of a dry run that removes everything in the plan.
  public init(previewing plan: RemovalPlan) {
    self.plan = plan
    returnedBytes = plan.returnedBytes
    footprintAfter = plan.footprintAfter
  }

  /// Creates the receipt of a removal that has not started.
  public init(before plan: RemovalPlan) {
    self.plan = plan
    (self.plan.entries, self.plan.orphans) = (RemovalPlan.EntryList(), [])
    self.plan.meetsLimits = nil
    returnedBytes = 0
    footprintAfter = plan.footprint.totalBytes
  }

  /// Creates the receipt of a plan from what a store removed.
  ///
  /// - Parameters:
  ///   - reason: Why the removal was stopped, if it was.
  ///   - failure: The error that ended it early.
  /// - Complexity: O(*n*), where *n* is the number of entries in the plan, if it was not executed completely.
  public init(
    of plan: RemovalPlan, _ removal: Removal, stoppedBy reason: StopReason?,
    _ failure: (any Error)?
  ) {
    self.plan = plan
    self.failure = failure
    do throws(FileError) {
      try self.plan.restrict(to: removal)
    } catch {
      // Which entries were removed cannot be listed any more.
      self.plan.entries = RemovalPlan.EntryList()
      self.failure = failure ?? error
    }
    skipped = removal.skipped.count
    skippedOrphans = removal.skippedOrphans.count
    orphanedFiles = removal.orphanedFiles
    linkedFiles = removal.linkedFiles
    keptFiles = removal.keptFiles
    listings = removal.listings
    returnedBytes = removal.returnedBytes - removal.linkedBytes
    // Files that could not be removed still occupy their space.
    footprintAfter =
      self.plan.footprintAfter + max(0, self.plan.returnedBytes - removal.returnedBytes)
    // After a failure, the error says why it ended, even if a signal came as well.
    guard self.failure == nil, let reason else { return }
    let left = Remainder(
      entries: plan.entries.count - removal.visited,
      orphans: plan.orphans.count - removal.visitedOrphans, reason: reason)
    remainder = left.count > 0 ? left : nil
  }

  /// Whether everything in the plan was removed.
  public var isComplete: Bool {
    failure == nil && skipped == 0 && skippedOrphans == 0 && orphanedFiles == 0 && remainder == nil
      && erasure?.isComplete ?? true
  }
}

/// A run of a command that was skipped.
public struct SkippedRun: Hashable, Sendable {
  /// Why a run was skipped.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Another process is using the cache.
    case busy
    /// The time limit for all caches was reached before this one was processed.
    case maxRuntime = "max-runtime"
  }

  /// The command.
  public var verb: String
  /// The name of the cache, or else its path.
  public var cache: String
  /// Why the run was skipped.
  public var reason: Reason
  /// The reason as a clause for people.
  public var message: String

  /// Creates a skipped run.
  public init(verb: String, cache: String, reason: Reason, message: String) {
    self.verb = verb
    self.cache = cache
    self.reason = reason
    self.message = message
  }
}

/// Why a command was stopped before it was done.
public enum StopReason: String, Hashable, Sendable, CaseIterable {
  /// A terminating signal arrived.
  case signal
  /// The time limit of `--max-runtime` was reached.
  case maxRuntime = "max-runtime"
}

/// What a command with `--secure` did after its removals, or would do in a dry run, and what may remain.
public struct ErasureReceipt: Hashable, Sendable {
  /// Whether this is a dry run, in which nothing was done.
  public var isPlanned = false
  /// Whether nothing is overwritten because nothing is removed.
  public var isSkipped = false
  /// Whether another process has the cache open, so that the database cannot be rewritten.
  public var inUse = false
  /// Whether the cache has a database.
  public var hasDatabase = true
  /// Whether everything that removed entries left in the database and its log was overwritten.
  public var isErased = false
  /// The length of the write-ahead log that is left, which may contain frames of removed entries.
  public var logBytes: ByteCount = 0
  /// The size of the free pages that are left.
  public var freeBytes: ByteCount = 0
  /// The number of body files that were not overwritten, because they have other names.
  public var linkedFiles = 0
  /// The number of orphans that `compact` has kept, because an app may be about to store their entries, or because another
  /// database may name them. What is in them is not known.
  public var keptOrphans: Int64 = 0
  /// What was found of the removed entries afterwards; `nil` if the files were not searched.
  public var report: TraceReport?
  /// Why the database was not rewritten, if that failed.
  public var failure: String?
  /// Whether it was stopped.
  public var isStopped = false

  /// Creates a receipt.
  public init() {}

  /// Returns the receipt of a dry run.
  public static func planned(for store: StoreDescription) -> ErasureReceipt {
    var receipt = ErasureReceipt()
    (receipt.isPlanned, receipt.inUse) = (true, store.inUse)
    receipt.hasDatabase = store.traits.hasDatabase
    return receipt
  }

  /// Returns the receipt of a command that ended before anything was overwritten.
  public static func failed(_ failure: any Error, for store: StoreDescription) -> ErasureReceipt {
    var receipt = planned(for: store)
    (receipt.isPlanned, receipt.failure) = (false, "\(failure)")
    return receipt
  }

  /// Returns the receipt of a command that removed nothing, or would remove nothing.
  public static func skipped(for store: StoreDescription, isPlanned: Bool) -> ErasureReceipt {
    var receipt = planned(for: store)
    (receipt.isPlanned, receipt.isSkipped) = (isPlanned, true)
    return receipt
  }

  /// Whether there is something to report that was done.
  public var isDone: Bool { !isPlanned && !isSkipped }

  /// Whether nothing remains, as far as the search can tell.
  public var isComplete: Bool {
    !isDone
      || isErased && linkedFiles == 0 && keptOrphans == 0 && failure == nil
        && report?.traces == 0
  }
}
