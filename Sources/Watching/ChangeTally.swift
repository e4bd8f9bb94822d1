public import Administration
public import Bytes

/// Counts of the changes of a cache.
public struct ChangeTally: Sendable {
  /// The number of changes of each kind.
  public private(set) var counts: [EntryChange.Kind: Int64] = [:]
  /// The number of entries that were stored, and removed before they could be seen.
  public var missed: Int64 = 0
  /// The size of all stored bodies.
  public private(set) var storedBytes: ByteCount = 0
  /// The size of all removed bodies.
  public private(set) var removedBytes: ByteCount = 0
  /// The number of stored entries by host, and their bytes.
  public private(set) var hosts: [ByteString: (entries: Int64, bytes: ByteCount)] = [:]
  /// The number of stored entries whose hosts are not listed.
  public private(set) var otherHosts: Int64 = 0
  /// The number of stored entries by freshness; unknown freshness is not counted.
  public private(set) var freshness: [ResponseFreshness.State: Int64] = [:]

  /// The largest number of hosts to list.
  private static let mostHosts = 1_000

  /// Creates counts of zero.
  public init() {}

  /// The number of changes of one kind.
  public func count(_ kind: EntryChange.Kind) -> Int64 { counts[kind] ?? 0 }

  /// The number of entries that were added or replaced.
  public var stored: Int64 { count(.added) + count(.replaced) }

  /// The number of all changes.
  public var all: Int64 { stored + count(.removed) }

  /// Counts entries that could not be seen; a negative number counts as none. The sum saturates.
  mutating func miss(_ count: Int64) {
    let (sum, isTooLarge) = missed.addingReportingOverflow(max(0, count))
    missed = isTooLarge ? .max : sum
  }

  /// Counts a change.
  mutating func insert(_ change: EntryChange, freshness state: ResponseFreshness?) {
    counts[change.kind, default: 0] += 1
    guard change.kind != .removed else {
      removedBytes += change.size ?? 0
      return
    }
    storedBytes += change.size ?? 0
    if let state { freshness[state.state, default: 0] += 1 }
    let host = change.url.flatMap(CanonicalURL.host)
    guard let host, hosts.count < Self.mostHosts || hosts[host] != nil else {
      otherHosts += 1
      return
    }
    var sum = hosts[host] ?? (0, 0)
    sum.entries += 1
    sum.bytes += change.size ?? 0
    hosts[host] = sum
  }

  /// The hosts with the most stored entries, in descending order.
  public func busiestHosts(_ limit: Int) -> [(host: ByteString, entries: Int64, bytes: ByteCount)] {
    hosts.map { ($0.key, $0.value.entries, $0.value.bytes) }
      .sorted { $0.1 != $1.1 ? $0.1 > $1.1 : $0.0 < $1.0 }
      .prefix(limit).map { (host: $0.0, entries: $0.1, bytes: $0.2) }
  }
}
