import Auditing
import Bytes
import ResponseStorage

extension AuditRenderer {
  func appendTable(_ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer) {
    let hosts = tally.hosts
    for host in hosts.prefix(mostHosts) {
      append(host, into: &buffer)
      buffer.append("\n")
    }
    if hosts.count > mostHosts {
      let more = QuantityWords.counted(hosts.count - mostHosts, "more host", "more hosts")
      buffer.append("\(more); see them with '--limit \(hosts.count)'\n\n")
    }
    appendFixes(tally, into: &buffer)
    appendSummary(tally, summary, into: &buffer)
  }

  private func append(_ host: AuditTally.Host, into buffer: inout TextBuffer) {
    buffer.append(as: .heading) {
      if let name = host.name { $0.append(shown: name) } else { $0.append("without a host") }
    }
    buffer.append(": ")
    buffer.append(AuditWords.counted { host.count($0) })
    if host.entries > 0 {
      let entries = QuantityWords.counted(host.entries, "entry", "entries")
      buffer.append(" in \(entries), \(ByteSizeText.text(host.bytes))")
    }
    buffer.append("\n")
    for sum in host.rules { append(sum, into: &buffer) }
  }

  private func append(_ sum: AuditTally.RuleSum, into buffer: inout TextBuffer) {
    let severity = sum.rule.severity
    buffer.append("  ")
    buffer.append(severity.rawValue, as: severity.auditEmphasis)
    buffer.append(UInt8(ascii: " "), count: 9 - severity.rawValue.utf8.count)
    buffer.append(sum.rule.id)
    buffer.append(": \(sum.rule.summary) (")
    buffer.append(grouped: sum.findings)
    buffer.append(", \(ByteSizeText.text(sum.bytes)))\n")
    for finding in sum.examples {
      buffer.append("    ")
      buffer.append(words.text(of: finding))
      buffer.append("\n")
    }
    let more = sum.findings - Int64(sum.examples.count)
    if more > 0 {
      buffer.append("    ")
      buffer.append(grouped: more)
      buffer.append(" more; list all findings with '--format json'\n")
    }
  }

  /// The rules that are broken, the most severe first.
  func broken(_ tally: AuditTally) -> [AuditRule] {
    tally.rules.keys.sorted {
      ($0.severity.rank, $0.id) < ($1.severity.rank, $1.id)
    }
  }

  private func appendFixes(_ tally: AuditTally, into buffer: inout TextBuffer) {
    let rules = broken(tally)
    guard !rules.isEmpty else { return }
    buffer.append("What to do", as: .heading)
    buffer.append("\n")
    for rule in rules {
      buffer.append("  ")
      buffer.append(rule.id, as: rule.severity.auditEmphasis)
      buffer.append(": \(rule.fix)\n")
    }
    buffer.append("\n")
  }

  private func appendSummary(
    _ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer
  ) {
    buffer.append(QuantityWords.counted(summary.entries, "entry", "entries"))
    for severity in Finding.Severity.allCases {
      let count = tally.counts[severity, default: 0]
      buffer.append(", ")
      // No color for "0 errors", which would look like a failure.
      buffer.append(
        severity.counted(count), as: count == 0 ? nil : severity.auditEmphasis)
    }
    if summary.known > 0 {
      buffer.append(
        "; \(QuantityWords.counted(summary.known, "known finding", "known findings")) not shown")
    }
    buffer.append("\n")
  }
}
