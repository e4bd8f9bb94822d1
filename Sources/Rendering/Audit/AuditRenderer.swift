public import Auditing
public import Bytes
import JSON
public import ResponseStorage
import Secrets

/// Renders the findings of an audit.
///
/// Formats for programs have every finding, in the order of entries. Those for people rank the hosts, and show a few
/// findings of each rule.
public struct AuditRenderer: Sendable {
  /// The output format.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    case table, json, ndjson, csv, sarif, markdown
  }

  /// What is known about the audit as a whole.
  public struct Summary: Sendable {
    /// The cache.
    public var cache: StoreDescription
    /// The number of entries that were read.
    public var entries: Int64
    /// The number of findings that a baseline contains.
    public var known: Int64

    /// Creates a summary.
    public init(cache: StoreDescription, entries: Int64, known: Int64) {
      (self.cache, self.entries, self.known) = (cache, entries, known)
    }
  }

  let format: Format
  let words: AuditWords
  let rules: [AuditRule]
  let cache: StoreDescription
  let generator: Generator
  /// The number of hosts to show.
  let mostHosts: Int
  /// Whether the table shows findings, and not only how many there are.
  public var showsDetails = true
  var stream = JSONStream(.hostileText)

  /// The program that made an output.
  public struct Generator: Sendable {
    /// The name of the program.
    public let name: String
    /// Its version.
    public let version: String

    /// Creates the name and version of a program.
    public init(name: String, version: String) { (self.name, self.version) = (name, version) }
  }

  /// Creates a renderer.
  ///
  /// - Parameters:
  ///   - rules: The rules that are applied.
  ///   - mostHosts: The number of hosts to show to people.
  public init(
    _ format: Format, secrets: SecretPolicy, now: Timestamp, rules: [AuditRule],
    of cache: StoreDescription, by generator: Generator, mostHosts: Int
  ) {
    (self.format, words) = (format, AuditWords(secrets: secrets, now: now))
    (self.rules, self.cache, self.generator) = (rules, cache, generator)
    self.mostHosts = mostHosts
  }

  /// Appends the text before the findings.
  public mutating func begin(into buffer: inout TextBuffer) {
    switch format {
    case .json: stream.begin("findings", in: &buffer.bytes) { $0.member(schema: "audit") }
    case .sarif: beginSARIF(into: &buffer)
    case .csv:
      buffer.append("severity,rule,host,id,url,place,name,fingerprint,count,bytes,secret\n")
    case .table, .ndjson, .markdown: break
    }
  }

  /// Appends a finding, in the formats that have all.
  public mutating func append(_ finding: AuditFinding, into buffer: inout TextBuffer) {
    let words = words
    switch format {
    case .json: stream.append(to: &buffer.bytes) { $0.members(of: finding, words) }
    case .ndjson:
      buffer.writeJSON {
        $0.members(of: finding, words)
        $0.endLine()
      }
    case .sarif: appendSARIF(finding, into: &buffer)
    case .csv: appendCSV(finding, into: &buffer)
    case .table, .markdown: break
    }
  }

  /// Appends the text after the findings.
  public mutating func finish(
    _ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer
  ) {
    switch format {
    case .table where showsDetails: appendTable(tally, summary, into: &buffer)
    case .table: appendOverview(tally, summary, into: &buffer)
    case .markdown: buffer.append(ByteString(markdown(tally, summary).bytes))
    case .json: finishJSON(tally, summary, into: &buffer)
    case .sarif: stream.end(in: &buffer.bytes)
    case .ndjson, .csv: break
    }
  }
}

/// Renders the rules of an audit.
public enum AuditRuleRenderer {
  /// Appends the rules as text, or as JSON.
  public static func append(_ rules: [AuditRule], asJSON: Bool, into buffer: inout TextBuffer) {
    if asJSON {
      return buffer.writeJSON(schema: "audit-rules") {
        $0.array("rules", objects: rules) { json, rule in json.members(of: rule) }
      }
    }
    for rule in rules {
      buffer.append(rule.id, as: rule.severity.auditEmphasis)
      buffer.append(" (\(rule.severity.rawValue)): \(rule.summary)\n")
      buffer.append("    \(rule.reason)\n    \(rule.fix)\n")
    }
  }
}

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

/// SARIF 2.1.0, which code scanning services read.
extension AuditRenderer {
  mutating func beginSARIF(into buffer: inout TextBuffer) {
    let (generator, rules) = (generator, rules)
    stream.begin(
      "results", inOnlyElementOf: "runs", in: &buffer.bytes,
      {
        $0.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
        $0.member("version", "2.1.0")
      },
      {
        $0.object("tool") {
          $0.object("driver") {
            $0.member("name", generator.name)
            $0.member("version", generator.version)
            $0.array("rules", objects: rules) { json, rule in json.sarifMembers(of: rule) }
          }
        }
        $0.member("columnKind", "utf16CodeUnits")
      })
  }

  mutating func appendSARIF(_ finding: AuditFinding, into buffer: inout TextBuffer) {
    let (words, index) = (words, rules.firstIndex(of: finding.rule))
    // Only ASCII is left as it is, so that any path is a URI.
    let path = Array(cache.path.utf8).percentEscaped {
      $0.isASCIILetter || $0.isASCIIDigit || "-._~/".utf8.contains($0)
    }
    stream.append(to: &buffer.bytes) { json in
      json.object {
        $0.member("ruleId", finding.rule.id)
        $0.member("ruleIndex", index)
        $0.member("level", finding.rule.severity.rawValue)
        $0.object("message") { $0.member("text", words.message(of: finding)) }
        $0.key("locations")
        $0.array {
          $0.object {
            $0.object("physicalLocation") {
              $0.object("artifactLocation") {
                $0.member("uri", String(decoding: path, as: UTF8.self))
              }
            }
            $0.key("logicalLocations")
            $0.array {
              $0.object {
                $0.member("fullyQualifiedName", words.place(of: finding))
                $0.member("kind", "member")
              }
            }
          }
        }
        $0.object("partialFingerprints") {
          $0.member("finding/v1", finding.identity)
          if let secret = finding.secret { $0.member("secret/v1", secret.fingerprint) }
        }
        $0.object("properties") { json in
          json.member("url", utf8OrBase64: finding.url.map(AuditWords.withoutQuery))
          json.member("bytes", finding.bytes)
          json.member("count", finding.count)
        }
      }
    }
  }
}

extension AuditWords {
  /// Returns a URL without the parts in which secrets are: such a file is uploaded to a service.
  fileprivate static func withoutQuery(_ url: ByteString) -> ByteString {
    let parts = URLParts(URLParts(url.bytes).withoutUserInfo)
    return Mask.url(ByteString(Array(parts.bytes[..<parts.path.endIndex])))
  }

  /// Returns the place, safe to show.
  fileprivate func place(of finding: AuditFinding) -> String {
    var buffer = TextBuffer()
    append(placeOf: finding, into: &buffer)
    return ByteString(buffer.bytes).string ?? ""
  }

  /// Returns a sentence about a finding, safe to show.
  fileprivate func message(of finding: AuditFinding) -> String {
    "\(finding.rule.summary): \(text(of: finding).string ?? ""). \(finding.rule.fix)"
  }
}

extension JSONWriter {
  fileprivate mutating func sarifMembers(of rule: AuditRule) {
    member("id", rule.id)
    object("shortDescription") { $0.member("text", rule.summary) }
    object("fullDescription") { $0.member("text", rule.reason) }
    object("help") { $0.member("text", rule.fix) }
    object("defaultConfiguration") { $0.member("level", rule.severity.rawValue) }
    object("properties") {
      $0.key("tags")
      let tags = rule.subject == .caching ? ["caching"] : ["security", rule.subject.rawValue]
      $0.array { for tag in tags { $0.value(tag) } }
      // GitHub ranks alerts by this number.
      if rule.subject != .caching {
        let scores: [Finding.Severity: String] = [.error: "8.0", .warning: "5.0", .note: "2.0"]
        $0.member("security-severity", scores[rule.severity])
      }
    }
  }
}

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

extension AuditRenderer {
  /// Appends a finding as a line of comma-separated values, with the names of the members in JSON.
  fileprivate func appendCSV(_ finding: AuditFinding, into buffer: inout TextBuffer) {
    let id =
      switch finding.id {
      case .row(let row): Array(String(row).utf8)
      case .file(let name): name.bytes
      case nil: [UInt8]()
      }
    let url = finding.url.map { words.secrets.url($0, for: .programs) }
    let cells: [[UInt8]] = [
      Array(finding.rule.severity.rawValue.utf8), Array(finding.rule.id.utf8),
      finding.host?.bytes ?? [], id, url?.bytes ?? [], Array(finding.place.kind.utf8),
      finding.place.name?.bytes ?? [], Array((finding.secret?.fingerprint ?? "").utf8),
      Array(String(finding.count).utf8), Array(String(finding.bytes.bytes).utf8),
      finding.secret.map { words.text(of: $0).bytes } ?? [],
    ]
    for (index, cell) in cells.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(csv: cell)
    }
    buffer.append(UInt8(ascii: "\n"))
  }

  /// The most hosts of an overview, which fits on one screen.
  private static let mostHostsOfOverview = 5

  /// Appends how many findings of each rule there are, and on which hosts.
  fileprivate func appendOverview(
    _ tally: AuditTally, _ summary: Summary, into buffer: inout TextBuffer
  ) {
    let (hosts, rules) = (tally.hosts, broken(tally))
    if !rules.isEmpty {
      var table = TextTable([
        .init(title: "SEVERITY"), .init(title: "FINDINGS", alignment: .right), .init(title: "RULE"),
        .init(title: "HOSTS", alignment: .right), .init(title: "MOST ON"),
      ])
      for rule in rules {
        let concerned = hosts.compactMap { host in
          host.rules.first { $0.rule == rule }.map { (host, $0.findings) }
        }
        let most = concerned.max { $0.1 < $1.1 }
        table.append(
          [
            Array(rule.severity.rawValue.utf8),
            grouped(tally.rules[rule, default: 0]), Array(rule.id.utf8),
            grouped(Int64(concerned.count { $0.0.name != nil })),
            most.map { shown($0.0, after: 62, in: buffer) } ?? [],
          ], startingAs: rule.severity.auditEmphasis)
      }
      table.append(to: &buffer)
      buffer.append("\n")
      var places = TextTable([
        .init(title: "ERRORS", alignment: .right), .init(title: "WARNINGS", alignment: .right),
        .init(title: "NOTES", alignment: .right), .init(title: "HOST"),
      ])
      for host in hosts.prefix(Self.mostHostsOfOverview) {
        places.append(
          [Finding.Severity.error, .warning, .note].map { grouped(host.count($0)) }
            + [shown(host, after: 26, in: buffer)])
      }
      places.append(to: &buffer)
      let more = hosts.count - Self.mostHostsOfOverview
      if more > 0 { buffer.append("\(QuantityWords.counted(more, "more host", "more hosts"))\n") }
      buffer.append("\n")
    }
    appendSummary(tally, summary, into: &buffer)
    if !rules.isEmpty {
      buffer.append("see the findings with '--details', '--rule ID' or '--host HOST'\n")
    }
  }

  private func grouped(_ count: Int64) -> [UInt8] { Array(QuantityWords.grouped(count).utf8) }

  /// Returns the name of a host, shortened for a terminal.
  private func shown(_ host: AuditTally.Host, after indent: Int, in buffer: TextBuffer) -> [UInt8] {
    guard let name = host.name else { return Array("the cache's files".utf8) }
    var text = TextBuffer()
    text.append(shown: name)
    return Array(
      DisplayWidth.shortened(
        text.bytes[...], to: buffer.style.width(60, after: indent), style: buffer.style))
  }
}
