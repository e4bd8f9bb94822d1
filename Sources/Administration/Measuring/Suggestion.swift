public import Bytes
public import ResponseStorage

/// Something that could be done about a cache.
public struct Suggestion: Hashable, Sendable {
  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Remove the entries that the app cannot use, by these kinds of repair in their order.
    case repair([Finding.Repair])
    /// Remove the body files that no entry names.
    case removeOrphans
    /// Give free pages of the database back, and the write-ahead log.
    case compact
    /// Remove older versions of files of which a newer one is stored.
    case purgeSuperseded
    /// Remove the oldest until the cache fits its capacity, of so many bytes.
    case enforce(capacity: ByteCount)
    /// Remove what is stale and has no validator.
    case purgeExpired
    /// Remove what is older than so many seconds.
    case purgeOlder(seconds: Int64)
  }

  /// What to do.
  public var action: Action
  /// The number of entries, or of files, that are removed; `nil` if only the doing shows it.
  public var count: Int64?
  /// How many bytes that frees; 0 if only the doing shows it.
  public var bytes: ByteCount
}

extension Suggestion {
  private static let mostUseful = 4

  /// What could be done about a cache: what costs nothing first.
  ///
  /// - Parameter expired: What is stale and has no validator, and may go.
  static func all(for report: CacheReport, expired: CacheReport.Sum) -> [Suggestion] {
    guard report.canBeChanged else { return [] }
    let footprint = report.usage.footprint
    var all: [Suggestion] = []
    let repairs = Set(report.problems.compactMap(\.code.repair)).subtracting([.orphans])
    if report.brokenEntries > 0 {
      let kinds = Finding.Repair.allCases.filter { repairs.contains($0) }
      all.append(.init(action: .repair(kinds), count: report.brokenEntries, bytes: 0))
    }
    if report.store.format == .apple {
      if report.orphans.entries > 0 {
        all.append(
          .init(
            action: .removeOrphans, count: report.orphans.entries, bytes: report.orphans.bytes))
      }
      let free = footprint.freeBytes + report.logBytes
      if free > footprint.totalBytes / 20 { all.append(.init(action: .compact, bytes: free)) }
    }
    if let old = report.usage.superseded, old.entries > 0 {
      all.append(.init(action: .purgeSuperseded, count: old.entries, bytes: old.bytes))
    }
    if let capacity = report.usage.capacityBytes, footprint.totalBytes > capacity,
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

  /// The highest limit of age that frees a fifth of all bodies, or else 30 days.
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
  /// Whether entries of the store can be removed: those of an archive, of a damaged database, or of a
  /// schema whose rules are not known, never are.
  public var canBeChanged: Bool {
    [.apple, .foundation].contains(store.format) && store.obstacle == nil && !isDamaged
  }

  /// Whether SQLite finds the database damaged, so that no command changes it.
  public var isDamaged: Bool { problems.contains { $0.code == .damagedDatabase } }

  /// What the write-ahead log and its index take up that closing the cache gives back; 0 while a process has
  /// it open, as nothing else can give that back then.
  public var logBytes: ByteCount {
    store.inUse ? 0 : usage.footprint.reclaimableLogBytes
  }

  /// About what is left on disk if all entries, orphans and free pages are removed.
  var leastBytes: ByteCount {
    let footprint = usage.footprint
    let removable = [usage.bodyBytes, footprint.orphanBytes, footprint.freeBytes, logBytes]
    return max(0, footprint.totalBytes - removable.reduce(0, +))
  }
}

extension Footprint {
  /// What the write-ahead log and its index take up beyond what the database file grows by once the
  /// log is in it: whoever closes the cache last gives that back.
  public var reclaimableLogBytes: ByteCount {
    walBytes > 0 ? max(0, totalBytes - closedBytes) : 0
  }
}
