public import Bytes
import HTTPCaching
public import ResponseStorage

/// What lifetimes and validators save when every entry of a cache is requested once more, by host.
///
/// The request has the policy `useProtocolCachePolicy` and goes by RFC 9111; what becomes of it is what ``Explanation`` says.
public struct CacheSavings: Hashable, Sendable {
  /// What becomes of a request for an entry.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The entry answers it, mostly as it is fresh: nothing is sent.
    case cached
    /// The server is asked by a validator: if it answers 304, the body is not sent.
    case confirmed
    /// The server sends all of it: the entry may not be used, and there is nothing to ask with.
    case downloaded
    /// The store does not hold what that depends on.
    case unknown

    init(_ outcome: RequestCachePolicy.Outcome) {
      switch outcome {
      case .cache: self = .cached
      case .conditional: self = .confirmed
      case .load, .error: self = .downloaded
      case .unknown: self = .unknown
      }
    }
  }

  /// Entries by what becomes of a request for them.
  public struct Sums: Hashable, Sendable {
    private var sums: [Outcome: CacheReport.Sum] = [:]

    /// Creates sums of nothing.
    public init() {}

    /// The entries with an outcome.
    public subscript(outcome: Outcome) -> CacheReport.Sum {
      get { sums[outcome] ?? CacheReport.Sum() }
      set { sums[outcome] = newValue }
    }

    /// All entries.
    public var total: CacheReport.Sum { sums.values.reduce(CacheReport.Sum()) { $0.adding($1) } }

    mutating func insert(_ other: Sums) {
      for (outcome, sum) in other.sums { self[outcome] = self[outcome].adding(sum) }
    }
  }

  /// The entries of a host.
  public struct Host: Hashable, Sendable {
    /// The name; `nil` for URLs without a host.
    public var name: ByteString?
    /// Its entries.
    public var sums: Sums
  }

  /// The entries of hosts that are not named.
  public struct Rest: Hashable, Sendable {
    /// The number of the hosts; `nil` if they were too many to be told apart.
    public var hosts: Int64?
    /// Their entries.
    public var sums: Sums
  }

  /// All entries.
  public private(set) var total = Sums()
  /// The hosts, those whose bodies take up most first.
  public private(set) var hosts: [Host] = []
  /// All other hosts; `nil` if there are none.
  public private(set) var rest: Rest?

  /// Looks through a cache.
  ///
  /// - Parameters:
  ///   - now: The moment of the requests.
  ///   - expiryRules: The expiries of an application's own.
  /// - Throws: What the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory.
  public init(
    of source: any ResponseSource, at now: Timestamp, expiryRules: [UserInfoExpiry.Rule]
  ) throws {
    var inquiry = Inquiry(now: now, platform: .rfc9111)
    inquiry.expiryRules = expiryRules
    let empty = SavingsTally(asking: inquiry)
    var all = empty
    try source.scan(ScanRequest(SavingsTally.projection, in: .any), into: empty) { tally in
      all.insert(tally)
      tally = empty
      return .next
    }
    hosts = all.hosts.map { Host(name: $0, sums: $1) }.sorted(by: Self.isBefore)
    if all.others.total.entries > 0 { rest = Rest(hosts: nil, sums: all.others) }
    total = all.others
    for host in hosts { total.insert(host.sums) }
  }

  /// Leaves only the first hosts; the entries of the others go to ``rest``.
  public mutating func cutHosts(to count: Int) {
    guard hosts.count > count else { return }
    var rest = rest ?? Rest(hosts: 0, sums: Sums())
    for host in hosts[count...] { rest.sums.insert(host.sums) }
    rest.hosts = rest.hosts.map { $0 + Int64(hosts.count - count) }
    hosts.removeSubrange(count...)
    self.rest = rest
  }

  private static func isBefore(_ first: Host, _ second: Host) -> Bool {
    let (one, other) = (first.sums.total, second.sums.total)
    if one.bytes != other.bytes { return one.bytes > other.bytes }
    if one.entries != other.entries { return one.entries > other.entries }
    return (first.name?.bytes ?? []).lexicographicallyPrecedes(second.name?.bytes ?? [])
  }
}
