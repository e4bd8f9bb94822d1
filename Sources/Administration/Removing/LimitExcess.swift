import Bytes
import ResponseStorage

/// How far a cache is over its limits, updated with each removed entry.
struct LimitExcess {
  private let limits: CacheLimits
  private var bytes: Double
  private var entries: Int64
  private var bytesToFree: Double
  /// The size of an entry in the database without its body, in bytes.
  private let rowBytes: Double
  /// The size of all entries in the database, in bytes.
  private let databaseBytes: Double
  /// The part of ``databaseBytes`` that the removed entries occupied.
  private var removedBytes = 0.0
  /// The number of bytes to free beyond what is required.
  private let spareBytes: Double
  // Where the removal may stop: at the limit itself, or at the low mark if the limit was exceeded.
  private var lowBytes: Double
  private var lowEntries: Int64

  init(_ limits: CacheLimits, of plan: RemovalPlan) {
    self.limits = limits
    let footprint = plan.footprint
    // Do not remove entries for the log: SQLite deletes it when the last process closes the database.
    let used =
      Double(footprint.closedBytes) - Double(footprint.freeBytes) - Double(plan.orphanBytes)
    bytes = used
    entries = plan.storedEntries - plan.orphanEntries
    let kept = plan.store.inUse ? footprint.closedBytes : footprint.totalBytes
    let returned = Double(kept) - used
    bytesToFree = Double(limits.bytesToFree ?? 0) - returned
    let database = footprint.databaseBytes + footprint.growthBytes
    databaseBytes = max(0, Double(database) - Double(footprint.freeBytes) - Self.emptyBytes)
    let overhead = max(0, databaseBytes - Double(plan.inlineBytes))
    rowBytes = overhead / Double(max(1, plan.storedEntries))
    let margin = Double(limits.round.margin)
    // The log of another process counts if entries are removed anyway; it is no reason to remove entries.
    let log =
      plan.store.inUse
      ? max(0, Double(footprint.totalBytes) - Double(footprint.closedBytes)) : 0
    spareBytes = bytesToFree > 0 ? margin : 0
    lowBytes =
      limits.bytes.map {
        let low =
          used > Double($0) || limits.round.startedOverLimit ? Double(limits.low($0)) : Double($0)
        return used > low ? low - margin - log : low
      } ?? .infinity
    let counted = entries
    lowEntries = limits.entries.map { counted > $0 ? limits.low($0) : $0 } ?? .max
  }

  /// Whether the files exceed their limit, or the file system lacks space.
  var needsRoom: Bool { bytes > lowBytes || bytesToFree > -spareBytes && bytesToFree > 0 }

  /// Raises the low marks to the limits if they cannot be reached: removing entries in vain helps no one.
  mutating func limitMarks(to reach: LimitReach, of plan: RemovalPlan) {
    if let limit = limits.entries, reach.leastEntries > lowEntries { lowEntries = limit }
    if let limit = limits.bytes, Double(reach.leastBytes) > lowBytes {
      lowBytes = max(lowBytes, Double(limit) - Double(limits.round.margin))
    }
  }

  /// Subtracts the freed bytes of a file that counts for no size limit.
  mutating func returnLeftover(_ size: ByteCount) { bytesToFree -= Double(size) }

  /// Whether more has to be removed.
  var isOver: Bool { reason != nil }

  /// Why the next entry has to be removed.
  var reason: RemovalPlan.Reason? {
    if entries > lowEntries { return .overEntries }
    if bytes > lowBytes { return .overSize }
    if bytesToFree > -spareBytes { return .minimumFree }
    return nil
  }

  /// Whether the limits themselves are met, regardless of the low mark.
  var isWithinLimits: Bool {
    bytesToFree <= 0 && limits.entries.map { entries <= $0 } ?? true
      && limits.bytes.map { bytes <= Double($0) } ?? true
  }

  mutating func remove(_ entry: RemovalPlan.Entry) {
    let returned = bytesReturned(by: entry)
    bytes -= returned
    bytesToFree -= returned
    entries -= 1
  }

  private mutating func bytesReturned(by entry: RemovalPlan.Entry) -> Double {
    if let file = entry.version.file { return Double(file.size) }
    let size = Double(entry.size ?? 0)
    return entry.hasBodyFile
      ? size + pagesReturned(for: rowBytes) : pagesReturned(for: size + rowBytes)
  }

  // Eleven b-trees and a pointer map: `sqlite_schema`, `sqlite_sequence`, three tables, four
  // indexes, and two indexes that SQLite makes for UNIQUE. Pages have 4,096 bytes in all known
  // caches. When these 48 KiB were counted as space that entries return, a store of 2 MiB that had
  // to lose a quarter lost half of its entries.
  /// The size of an empty database: a page for the header and for each table and index.
  private static let emptyBytes = 12.0 * 4_096

  /// Returns how much the database shrinks if this many of its bytes are removed.
  private mutating func pagesReturned(for bytes: Double) -> Double {
    guard databaseBytes > 0 else { return 0 }
    let before = Self.returned(of: removedBytes / databaseBytes)
    removedBytes = min(removedBytes + bytes, databaseBytes)
    return (Self.returned(of: removedBytes / databaseBytes) - before) * databaseBytes
  }

  // Measured with a million entries: removing the oldest tenth freed 9.3% of the file, and the
  // oldest half 47%. A tenth picked at random freed only 1.2%, which no formula knows in advance:
  // so the cache is measured after each round.
  /// Returns the share by which a database shrinks when a share of its bytes is removed.
  ///
  /// Pages that also contain kept entries are not freed: a tenth at first. That tenth is freed toward the end, as the
  /// rest of those pages is removed.
  private static func returned(of gone: Double) -> Double { gone * (0.9 + 0.1 * gone) }
}
