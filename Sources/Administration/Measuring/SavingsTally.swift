import Bytes
import ResponseStorage

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
