import ResponseStorage

/// Something that could be done about a cache.
public struct Suggestion: Hashable, Sendable {
  /// What to do.
  public enum Action: Hashable, Sendable {
    /// Remove the body files that no entry names.
    case removeOrphans
    /// Give free pages of the database back.
    case compact
    /// Remove the oldest until the cache fits its capacity, of so many bytes.
    case enforce(capacity: Int64)
    /// Remove what is stale and has no validator.
    case purgeExpired
    /// Remove what is older than so many seconds.
    case purgeOlder(seconds: Int64)
  }

  /// What to do.
  public var action: Action
  /// The number of entries, or of files, that would go; `nil` if only the doing tells.
  public var count: Int64?
  /// How many bytes that frees.
  public var bytes: Int64
}

extension Suggestion {
  private static let mostUseful = 3

  /// What could be done about a cache: what costs nothing first.
  ///
  /// - Parameter expired: What is stale and has no validator, and may go.
  static func all(for report: CacheReport, expired: CacheReport.Sum) -> [Suggestion] {
    guard report.canBeChanged else { return [] }
    let footprint = report.usage.footprint
    var all: [Suggestion] = []
    if report.store.format == .apple {
      if footprint.orphanFiles > 0 {
        all.append(
          .init(
            action: .removeOrphans, count: footprint.orphanFiles, bytes: footprint.orphanBytes))
      }
      if footprint.freeBytes > footprint.totalBytes / 20 {
        all.append(.init(action: .compact, bytes: footprint.freeBytes))
      }
    }
    if let capacity = report.usage.capacityBytes, footprint.totalBytes > capacity {
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
  /// Whether entries of the store can be removed: those of an archive, or of a schema whose rules are
  /// not known, never are.
  public var canBeChanged: Bool {
    [.apple, .foundation].contains(store.format) && store.obstacle == nil
  }
}
