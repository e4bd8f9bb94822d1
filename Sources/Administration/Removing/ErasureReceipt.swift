public import Bytes
public import ResponseStorage

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
    receipt.hasDatabase = store.format.hasDatabase
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
