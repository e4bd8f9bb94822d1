public import Bytes
public import ResponseStorage

/// The findings of an audit by host and rule, in bounded memory.
public struct AuditTally: Sendable {
  /// The findings of one rule.
  public struct RuleSum: Sendable {
    /// The rule.
    public let rule: AuditRule
    /// The number of findings.
    public var findings: Int64 = 0
    /// The bytes concerned.
    public var bytes: ByteCount = 0
    /// The first findings.
    public var examples: [AuditFinding] = []
  }

  /// The findings of one host.
  public struct Host: Sendable {
    /// The name; `nil` for the files of the cache, and for entries without a host.
    public let name: ByteString?
    /// The number of entries with findings.
    public var entries: Int64 = 0
    /// The bytes of their bodies.
    public var bytes: ByteCount = 0
    /// The findings of each rule, the most severe first.
    public var rules: [RuleSum] = []

    /// Returns the number of findings of a severity.
    public func count(_ severity: Finding.Severity) -> Int64 {
      rules.reduce(0) { $0 + ($1.rule.severity == severity ? $1.findings : 0) }
    }
  }

  /// The number of findings of each severity.
  public private(set) var counts: [Finding.Severity: Int64] = [:]

  /// The rules that are broken, with their findings.
  public private(set) var rules: [AuditRule: Int64] = [:]

  /// The number of hosts whose findings are only counted, because there are too many.
  public private(set) var uncountedHosts: Int64 = 0

  private var places: [ByteString?: Int] = [:]
  private var unsorted: [Host] = []
  private let examples: Int

  /// Hosts can be made up in any number, so only some are kept.
  private static let mostHosts = 16_384

  /// Creates a tally that keeps some findings of each host and rule as examples.
  public init(examples: Int = 3) { self.examples = examples }

  /// Adds the findings about one entry, or about the files.
  ///
  /// - Parameter size: The size of the body of the entry.
  public mutating func insert(_ findings: [AuditFinding], size: ByteCount = 0) {
    guard let first = findings.first else { return }
    for finding in findings {
      counts[finding.rule.severity, default: 0] += 1
      rules[finding.rule, default: 0] += 1
    }
    guard let place = place(of: first.host) else { return }
    if first.id != nil {
      unsorted[place].entries += 1
      unsorted[place].bytes += size
    }
    for finding in findings { insert(finding, at: place) }
  }

  private mutating func insert(_ finding: AuditFinding, at place: Int) {
    let index =
      unsorted[place].rules.firstIndex { $0.rule == finding.rule } ?? unsorted[place].rules.count
    if index == unsorted[place].rules.count {
      unsorted[place].rules.append(RuleSum(rule: finding.rule))
    }
    unsorted[place].rules[index].findings += 1
    unsorted[place].rules[index].bytes += finding.bytes
    if unsorted[place].rules[index].examples.count < examples {
      unsorted[place].rules[index].examples.append(finding)
    }
  }

  private mutating func place(of host: ByteString?) -> Int? {
    if let place = places[host] { return place }
    guard unsorted.count < Self.mostHosts else {
      uncountedHosts += 1
      return nil
    }
    places[host] = unsorted.count
    unsorted.append(Host(name: host))
    return unsorted.count - 1
  }

  /// The hosts: those with most errors first, then by warnings, notes, bytes and name.
  public var hosts: [Host] {
    var hosts = unsorted
    for index in hosts.indices {
      hosts[index].rules.sort {
        ($0.rule.severity.rank, $0.rule.id) < ($1.rule.severity.rank, $1.rule.id)
      }
    }
    func order(_ host: Host) -> (Int64, Int64, Int64, ByteCount, ByteString) {
      (
        -host.count(.error), -host.count(.warning), -host.count(.note),
        ByteCount(0) - host.bytes, host.name ?? ""
      )
    }
    return hosts.map { (order($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Whether there are findings that are at least as severe as this.
  public func has(_ severity: Finding.Severity) -> Bool {
    Finding.Severity.allCases.contains { $0.rank <= severity.rank && counts[$0, default: 0] > 0 }
  }
}
