import Auditing
import Bytes
import JSON
import ResponseStorage
import Secrets

extension AuditRenderer {
  mutating func finishJSON(
    _ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer
  ) {
    let rules = broken(tally)
    stream.endArray(in: &buffer.bytes) { json in
      json.member("entries", summary.entries)
      json.member("cache", summary.cache)
      json.object("counts") {
        for severity in Finding.Severity.allCases {
          $0.member(named: "\(severity.rawValue)s", tally.counts[severity, default: 0])
        }
        $0.member("known", summary.known)
      }
      json.array("rules", objects: rules) { json, rule in
        json.members(of: rule)
        json.member("findings", tally.rules[rule, default: 0])
      }
      json.array("hosts", objects: tally.hosts) { json, host in
        json.member("host", utf8OrBase64: host.name)
        for severity in Finding.Severity.allCases {
          json.member(named: "\(severity.rawValue)s", host.count(severity))
        }
        json.member("entries", host.entries)
        json.member("bytes", host.bytes)
      }
    }
    stream.end(in: &buffer.bytes)
  }
}

extension JSONWriter {
  mutating func members(of rule: AuditRule) {
    member("rule", rule.id)
    member("severity", rule.severity.rawValue)
    member("summary", rule.summary)
    member("reason", rule.reason)
    member("fix", rule.fix)
  }

  mutating func members(of finding: AuditFinding, _ words: AuditWords) {
    object {
      $0.member("rule", finding.rule.id)
      $0.member("severity", finding.rule.severity.rawValue)
      if let id = finding.id { $0.member(id: id) } else { $0.null("id") }
      $0.member("url", url: finding.url, words.secrets)
      $0.member("host", utf8OrBase64: finding.host)
      $0.member("place", finding.place.kind)
      $0.member("name", utf8OrBase64: finding.place.name)
      if case .page(_, let frame, let page) = finding.place {
        $0.member("frame", frame)
        $0.member("page", Int64(page))
      }
      $0.member("offset", finding.offset)
      $0.member("detail", utf8OrBase64: finding.detail)
      $0.key("secret")
      if let secret = finding.secret {
        $0.object {
          $0.member("text", utf8OrBase64: words.text(of: secret))
          $0.member("bytes", secret.value.bytes.count)
          $0.member("fingerprint", secret.fingerprint)
          $0.member(
            "expires", secret.expires.flatMap { Timestamp(secondsSince1970: Double($0)) })
        }
      } else {
        $0.null()
      }
      $0.member("count", finding.count)
      $0.member("bytes", finding.bytes)
      $0.member("identity", finding.identity)
    }
  }
}
