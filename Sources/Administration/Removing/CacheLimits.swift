public import Bytes
import ResponseStorage

/// The limits that a cache is to keep, and how entries are chosen where it exceeds them.
///
/// How much one command may remove is another matter; see ``RemovalCap``.
public struct CacheLimits: Hashable, Sendable {
  /// In which order entries are removed when there is too much; what is unknown comes last.
  public enum Order: String, Hashable, Sendable, CaseIterable {
    /// What was stored longest ago first.
    case oldest
    /// The largest bodies first.
    case largest
    /// What is stale first, then what has no lifetime, then what is fresh.
    case staleFirst = "stale-first"
  }

  /// How a plan continues the rounds before it: what an entry of a database gives back is an estimate, so a cache that is
  /// measured again may still take up too much.
  public struct Round: Hashable, Sendable {
    /// Whether the cache was over its limit of size before the first round, so that it is reduced to the low mark.
    public var startedOverLimit: Bool
    /// How much more is removed than seems to be needed, in bytes, where there is too much.
    public var margin: ByteCount

    /// Creates the first round.
    public init(startedOverLimit: Bool = false, margin: ByteCount = 0) {
      (self.startedOverLimit, self.margin) = (startedOverLimit, margin)
    }
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
  /// How far an exceeded limit of size or number is undercut, in percent of the limit.
  public var lowPercent = 100.0
  /// What the plan has to know of the rounds before it.
  public var round = Round()
  /// Whether age and size of entries count only where there are too many entries or bytes.
  public var onlyIfOver = false
  /// Whether to remove what can be removed even if that is not enough.
  public var isBestEffort = false
  /// In which order entries are removed.
  public var order: [Order] = [.oldest]

  /// Creates limits that allow everything.
  public init() {}

  /// Whether no limit was set.
  public var isEmpty: Bool {
    bytes == nil && entries == nil && age == nil && entryBytes == nil && bytesToFree == nil
  }

  /// The limits of size and number that a cache exceeds which takes up so much and has so many entries.
  public func unmet(bytes used: ByteCount, entries count: Int64) -> [UnmetLimit] {
    var unmet: [UnmetLimit] = []
    if let bytes, used > bytes {
      unmet.append(UnmetLimit(kind: .bytes, limit: bytes.bytes, reachable: used.bytes))
    }
    if let entries, count > entries {
      unmet.append(UnmetLimit(kind: .entries, limit: entries, reachable: count))
    }
    return unmet
  }

  /// What has to be decoded of each entry that may be removed.
  func projection(ageBasis: AgeBasis) -> Projection {
    var result: Projection = age == nil ? [] : ageBasis.projection
    if order.contains(.staleFirst) { result.formUnion(ResponseFreshness.projection) }
    return result
  }

  /// The size that a cache is reduced to once it exceeds a limit of size.
  public func low(_ limit: ByteCount) -> ByteCount { ByteCount(low(limit.bytes)) }

  /// The number that a cache is reduced to once it exceeds a limit.
  public func low(_ limit: Int64) -> Int64 {
    // The largest numbers have no `Double` of their own, and would come out larger than they are.
    Int64(exactly: (Double(limit) * min(lowPercent, 100) / 100).rounded(.down)) ?? limit
  }

  /// Whether the first entry is removed before the second.
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
