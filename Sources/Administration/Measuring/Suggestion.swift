public import Bytes
public import ResponseStorage

/// A suggested change to a cache.
public struct Suggestion: Hashable, Sendable {
  /// A kind of change.
  public enum Action: Hashable, Sendable {
    /// Remove the entries that the app cannot use, with these kinds of repair in order.
    case repair([Finding.Repair])
    /// Remove orphans.
    case removeOrphans
    /// Free the unused pages of the database, and the write-ahead log.
    case compact
    /// Remove older versions of files that are stored in a newer version.
    case purgeSuperseded
    /// Remove the oldest entries until the cache fits its capacity, in bytes.
    case enforce(capacity: ByteCount)
    /// Remove stale entries without a validator.
    case purgeExpired
    /// Remove entries older than this many seconds.
    case purgeOlder(seconds: Int64)
  }

  /// What to do.
  public var action: Action
  /// The number of entries or files to remove; `nil` if unknown until the change is made.
  public var count: Int64?
  /// The number of bytes to be freed; 0 if unknown until the change is made.
  public var bytes: ByteCount
}

extension Suggestion {
  private static let mostUseful = 4

  /// Returns the suggestions for a cache; those that lose nothing come first.
  static func all(for report: CacheReport) -> [Suggestion] {
    guard report.canBeChanged else { return [] }
    let expired = report.states[.expired]
    let footprint = report.usage.footprint
    var all: [Suggestion] = []
    let repairs = Set(report.findings.compactMap(\.code.repair)).subtracting([.orphans])
    // First, because entries that no app can read cost nothing to remove, and make the other
    // numbers right.
    if report.brokenEntries > 0 {
      let kinds = Finding.Repair.allCases.filter { repairs.contains($0) }
      all.append(.init(action: .repair(kinds), count: report.brokenEntries, bytes: 0))
    }
    if report.orphans.entries > 0 {
      all.append(
        .init(action: .removeOrphans, count: report.orphans.entries, bytes: report.orphans.bytes))
    }
    let free = footprint.freeBytes + report.logBytes
    if free > footprint.totalBytes / 20 { all.append(.init(action: .compact, bytes: free)) }
    if let old = report.usage.superseded, old.entries > 0 {
      all.append(.init(action: .purgeSuperseded, count: old.entries, bytes: old.bytes))
    }
    if let capacity = report.usage.capacityBytes, footprint.totalBytes > capacity,
      // `enforce` removes nothing if the limit cannot be met, so it is not suggested then.
      report.leastBytes <= capacity
    {
      all.append(
        .init(action: .enforce(capacity: capacity), bytes: footprint.totalBytes - capacity))
    }
    if expired.entries > 0 {
      all.append(.init(action: .purgeExpired, count: expired.entries, bytes: expired.bytes))
    }
    if let limit = usefulLimit(of: report) {
      all.append(
        .init(
          action: .purgeOlder(seconds: limit.seconds), count: limit.removed.entries,
          bytes: limit.removed.bytes))
    }
    return Array(all.prefix(mostUseful))
  }

  /// Returns the highest age limit that frees a fifth of all bodies, or else 30 days.
  private static func usefulLimit(of report: CacheReport) -> CacheReport.AgeLimit? {
    let days: Set<Int64> = [7, 14, 30, 60, 90, 180, 365]
    let limits = report.ageLimits.filter {
      $0.seconds % 86_400 == 0 && days.contains($0.seconds / 86_400) && $0.removed.entries > 0
    }
    return limits.last { $0.removed.bytes >= report.usage.bodyBytes / 5 }
      ?? limits.first { $0.seconds == 30 * 86_400 } ?? limits.first
  }
}

extension CacheReport {
  /// Whether entries can be removed; not from an archive, a damaged database, or a schema with unknown rules.
  public var canBeChanged: Bool {
    store.traits.isCache && store.readOnlyReason == nil && !isDamaged
  }

  /// Whether SQLite reports the database as damaged, so that no command changes it.
  public var isDamaged: Bool { findings.contains { $0.code == .damagedDatabase } }

  /// The size of the write-ahead log and its index that is freed when the cache is closed; 0 while another process has
  /// it open, because only closing it frees that space.
  public var logBytes: ByteCount {
    store.inUse ? 0 : usage.footprint.reclaimableLogBytes
  }

  /// The approximate size on disk after all entries, orphans and free pages are removed.
  var leastBytes: ByteCount {
    let footprint = usage.footprint
    let removable = [usage.bodyBytes, footprint.orphanBytes, footprint.freeBytes, logBytes]
    return max(0, footprint.totalBytes - removable.reduce(0, +))
  }
}

extension Footprint {
  /// The size of the write-ahead log and its index, less the growth of the database file once the log is written to it.
  /// The last process to close the cache frees it.
  public var reclaimableLogBytes: ByteCount {
    walBytes > 0 ? max(0, totalBytes - closedBytes) : 0
  }
}
