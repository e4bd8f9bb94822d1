public import Bytes
import ResponseStorage

/// The limits that a cache is to keep.
public struct CacheLimits: Hashable, Sendable {
  /// In which order entries go when there is too much; what is unknown goes last.
  public enum Order: String, Hashable, Sendable, CaseIterable {
    /// What was stored longest ago first.
    case oldest
    /// The largest bodies first.
    case largest
    /// What is stale first, then what has no lifetime, then what is fresh.
    case staleFirst = "stale-first"
  }

  /// What all files may take up, in bytes.
  public var bytes: ByteCount?
  /// How many entries there may be.
  public var entries: Int64?
  /// How old an entry may be, in seconds, by ``Selection/ageBasis``.
  public var age: Double?
  /// How large a body may be, in bytes.
  public var entryBytes: ByteCount?
  /// How much more is to be free on the file system, in bytes; 0 if there is enough.
  public var bytesToFree: ByteCount?
  /// Once there is too much, how much may stay, in percent of the limit.
  public var lowPercent = 100.0
  /// Whether there was too much before, so that only what may stay then counts.
  public var isUnderway = false
  /// How much more is to go than has to, in bytes, where there is too much: what an entry of a database gives
  /// back is an estimate.
  public var margin: ByteCount = 0
  /// Whether age and size of entries count only where there are too many entries or bytes.
  public var onlyIfOver = false
  /// Whether to remove what can be removed even if that is not enough.
  public var isBestEffort = false
  /// In which order entries go.
  public var order: [Order] = [.oldest]

  /// Creates limits that allow everything.
  public init() {}

  /// Whether no limit was set.
  public var isEmpty: Bool {
    bytes == nil && entries == nil && age == nil && entryBytes == nil && bytesToFree == nil
  }

  /// Whether a cache with so much takes up more than it may, or has more entries.
  func isExceeded(bytes used: ByteCount, entries count: Int64) -> Bool {
    bytes.map { used > $0 } ?? false || entries.map { count > $0 } ?? false
      || bytesToFree.map { $0 > 0 } ?? false
  }

  /// What has to be decoded of each entry that may go.
  func projection(ageBasis: AgeBasis) -> Projection {
    var result: Projection = age == nil ? [] : ageBasis.projection
    if order.contains(.staleFirst) { result.formUnion(ResponseFreshness.projection) }
    return result
  }

  /// What may stay of a limit of size that was exceeded.
  public func low(_ limit: ByteCount) -> ByteCount { ByteCount(low(limit.bytes)) }

  /// What may stay of a limit that was exceeded.
  public func low(_ limit: Int64) -> Int64 {
    // The largest numbers have no `Double` of their own, and would come out larger than they are.
    Int64(exactly: (Double(limit) * min(lowPercent, 100) / 100).rounded(.down)) ?? limit
  }

  /// Whether the first entry goes before the second.
  func precedes(_ first: RemovalPlan.Entry, _ second: RemovalPlan.Entry) -> Bool {
    for order in order {
      switch order {
      case .largest:
        let sizes = (first.size ?? 0, second.size ?? 0)
        if sizes.0 != sizes.1 { return sizes.0 > sizes.1 }
      case .staleFirst:
        let ranks = (Self.rank(of: first.state), Self.rank(of: second.state))
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
      case .oldest:
        if first.version.stored != second.version.stored { return Self.isOlder(first, second) }
      }
    }
    if first.version.stored != second.version.stored { return Self.isOlder(first, second) }
    return first.version.id < second.version.id
  }

  private static func rank(of state: ResponseFreshness.State?) -> Int {
    switch state {
    case .stale: 0
    case .noLifetime: 1
    case .fresh: 2
    case nil: 3
    }
  }

  private static func isOlder(_ first: RemovalPlan.Entry, _ second: RemovalPlan.Entry) -> Bool {
    guard let time = first.version.stored else { return false }
    return second.version.stored.map { time < $0 } ?? true
  }
}
