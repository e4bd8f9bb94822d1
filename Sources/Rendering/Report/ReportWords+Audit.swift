import Auditing
import Bytes
import ResponseStorage

/// The findings of one rule of an audit, in words.
struct AuditRuleText: Sendable {
  /// Whether they are only notes.
  let isNote: Bool
  /// The number and the id of the rule.
  let title: String
  /// What was found, why that matters, and how to fix it.
  let text: String
  /// The hosts with the most findings, escaped and shortened.
  let hosts: [ByteString]
  /// The words after ``hosts``.
  let rest: String
}

extension ReportWords {
  /// The most hosts that are named for each rule.
  private static let mostHosts = 3

  /// The findings of an audit by rule: the most severe rules first, then those with the most findings.
  func auditTexts(of tally: AuditTally) -> [AuditRuleText] {
    var hosts: [AuditRule: [(name: ByteString?, findings: Int64)]] = [:]
    for host in tally.hosts {
      for sum in host.rules { hosts[sum.rule, default: []].append((host.name, sum.findings)) }
    }
    let rules = tally.rules.sorted {
      ($0.key.severity.rank, -$0.value, $0.key.id) < ($1.key.severity.rank, -$1.value, $1.key.id)
    }
    return rules.map { rule, count in
      // The hosts are ranked already; those with the most findings of this rule come first.
      let ranked = (hosts[rule] ?? []).enumerated().sorted {
        ($1.element.findings, $0.offset) < ($0.element.findings, $1.offset)
      }.map(\.element)
      let shown = ranked.prefix(Self.mostHosts)
      let others = Int64(ranked.count - shown.count)
      return AuditRuleText(
        isNote: rule.severity == .note, title: "\(Self.grouped(count)) × \(rule.id):",
        text: "\(rule.summary). \(rule.reason) \(rule.fix)",
        hosts: shown.map { name(ofAuditedHost: $0.name) },
        rest: others == 0
          ? "" : " and \(QuantityWords.counted(others, "other host", "other hosts"))")
    }
  }

  private func name(ofAuditedHost host: ByteString?) -> ByteString {
    host.map { bounded(secrets.url($0, for: .people), to: Length.name) } ?? "the files of the cache"
  }

  /// The number of findings of each severity.
  func auditCounts(of tally: AuditTally) -> String {
    Finding.Severity.allCases.map { severity in
      severity.counted(tally.counts[severity, default: 0])
    }.joined(separator: ", ")
  }

  /// The command that shows where the findings are.
  var auditCommand: ByteString { command("audit", "--examples 10") }
}
