public import Bytes
import HTTPCaching
public import ResponseStorage

/// What lifetimes and validators save if every entry of a cache is requested once more, by host.
///
/// The requests use the policy `useProtocolCachePolicy` and follow RFC 9111; ``Explanation`` predicts the results.
public struct CacheSavings: Hashable, Sendable {
  /// The result of a request for an entry.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The entry is used, usually because it is fresh: nothing is sent.
    case cached
    /// The entry is validated: if the server answers 304, the body is not sent.
    case confirmed
    /// The server sends the whole response: the entry may not be used, and has no validator.
    case downloaded
    /// The result depends on data that the store does not contain.
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

  /// Entries by the result of a request for them.
  public struct Sums: Hashable, Sendable {
    private var sums: [Outcome: CacheReport.Sum] = [:]

    /// Creates empty sums.
    public init() {}

    /// Returns the entries with an outcome.
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

  /// The entries of hosts that are not listed.
  public struct Rest: Hashable, Sendable {
    /// The number of hosts; `nil` if there were too many to count.
    public var hosts: Int64?
    /// Their entries.
    public var sums: Sums
  }

  /// All entries.
  public private(set) var total = Sums()
  /// The hosts, largest bodies first.
  public private(set) var hosts: [Host] = []
  /// All other hosts; `nil` if there are none.
  public private(set) var rest: Rest?

  /// Calculates the savings of a cache.
  ///
  /// - Parameters:
  ///   - now: The time of the requests.
  ///   - expiryRules: The expiry rules of the app.
  /// - Throws: The error that the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory.
  public init(
    of source: any ResponseSource, at now: Timestamp, expiryRules: [UserInfoExpiry.Rule]
  ) throws {
    // By the specification on all platforms: what Apple's systems do is not fully documented, and
    // Foundation on Linux never validates, so it would save nothing but fresh entries.
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
    // How many hosts were not counted is unknown: remembering them is what the limit prevents.
    if all.others.total.entries > 0 { rest = Rest(hosts: nil, sums: all.others) }
    total = all.others
    for host in hosts { total.insert(host.sums) }
  }

  /// Keeps only the first hosts, and moves the entries of the others to ``rest``.
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

/// Entries counted by host and by the result of a request for them, in bounded memory.
struct SavingsTally: ResponseTally {
  // Servers can make up any number of hosts. Entries beyond the limits are only counted together.
  private static let mostHosts = 65_536
  private static let mostNameBytes = 8 << 20

  private let inquiry: Inquiry
  private(set) var hosts: [ByteString?: CacheSavings.Sums] = [:]
  /// The entries of hosts over the limits.
  private(set) var others = CacheSavings.Sums()
  private var nameBytesLeft = Self.mostNameBytes

  /// Creates an empty tally.
  init(asking inquiry: Inquiry) {
    self.inquiry = inquiry
  }

  /// The fields to decode of the entries.
  static let projection = Explanation.projection.union([.url, .body])

  mutating func insert(_ response: borrowing StoredResponse) {
    let explanation = Explanation(of: response, asking: inquiry, withHints: false)
    var sums = CacheSavings.Sums()
    sums[CacheSavings.Outcome(explanation.outcome)].insert(response.bodySize ?? 0)
    insert(sums, of: response.url.flatMap { CanonicalURL.host(of: $0) })
  }

  /// Adds another tally.
  mutating func insert(_ other: SavingsTally) {
    for (host, sums) in other.hosts { insert(sums, of: host) }
    others.insert(other.others)
  }

  private mutating func insert(_ sums: CacheSavings.Sums, of host: ByteString?) {
    if hosts[host] == nil {
      let length = host?.bytes.count ?? 0
      guard hosts.count < Self.mostHosts, length <= nameBytesLeft else {
        return others.insert(sums)
      }
      nameBytesLeft -= length
    }
    hosts[host, default: CacheSavings.Sums()].insert(sums)
  }
}
