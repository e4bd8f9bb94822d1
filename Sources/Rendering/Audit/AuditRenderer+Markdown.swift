import Auditing
import Bytes
import ResponseStorage

extension AuditRenderer {
  func markdown(_ tally: AuditTally, _ summary: Summary) -> Markdown {
    var text: Markdown =
      "# Audit of a URL cache\n\n\(code: ByteString(summary.cache.path), isCell: false): "
    let entries = QuantityWords.counted(summary.entries, "entry", "entries")
    let findings = AuditWords.counted { tally.counts[$0, default: 0] }
    text += "\(entries), \(findings)"
    if summary.known > 0 {
      text +=
        "; \(QuantityWords.counted(summary.known, "known finding", "known findings")) not shown"
    }
    text += ".\n"
    let hosts = tally.hosts
    for host in hosts.prefix(mostHosts) { text += section(on: host) }
    if hosts.count > mostHosts {
      text += "\n\(QuantityWords.counted(hosts.count - mostHosts, "more host", "more hosts")).\n"
    }
    let rules = broken(tally)
    guard !rules.isEmpty else { return text }
    text += "\n## What to do\n\n"
    for rule in rules {
      text += "- \(code: ByteString(rule.id), isCell: false): \(rule.reason) \(rule.fix)\n"
    }
    return text
  }

  private func section(on host: AuditTally.Host) -> Markdown {
    var text: Markdown = "\n## "
    if let name = host.name {
      text += "\(code: name, isCell: false)"
    } else {
      text += "Without a host"
    }
    text += "\n\n| Severity | Rule | Findings | Size | For example |\n|---|---|---:|---:|---|\n"
    for sum in host.rules {
      let (severity, count) = (sum.rule.severity.rawValue, QuantityWords.grouped(sum.findings))
      text += "| \(severity) | \(code: ByteString(sum.rule.id)) \(sum.rule.summary)"
      text += " | \(count) | \(ByteSizeText.text(sum.bytes)) | "
      if let first = sum.examples.first { text += "\(code: words.text(of: first))" }
      text += " |\n"
    }
    return text
  }
}
