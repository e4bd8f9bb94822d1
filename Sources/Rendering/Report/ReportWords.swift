import Administration
import Auditing
import Bytes
import ResponseStorage

/// The words of a report, shared by all its formats.
struct ReportWords: Sendable {
  /// The maximum number of characters for texts from the cache, which bounds the size of a report.
  enum Length {
    static let name = 48
    static let url = 160
  }

  let report: CacheReport
  let secrets: SecretPolicy

  /// A judgement: what it is about is in its text.
  struct Judgement: Hashable, Sendable {
    let text: String
    let sign: Sign
  }

  /// How urgent something is; each has a sign and a color of its own.
  enum Sign: String, Sendable {
    /// It was checked, and is in order.
    case good
    case note
    case warning
    case error

    init(_ severity: Finding.Severity) {
      self =
        switch severity {
        case .error: .error
        case .warning: .warning
        case .note: .note
        }
    }

    /// The sign in text.
    var mark: String {
      switch self {
      case .good: "✓"
      case .note: "i"
      case .warning: "!"
      case .error: "✕"
      }
    }
  }

  /// The judgements about the limit, if there is one, and about the integrity.
  var judgements: [Judgement] {
    var all: [Judgement] = []
    if let share = report.usage.share {
      all.append(
        share > 1
          ? Judgement(text: "Over its capacity", sign: .error)
          : share > 0.9
            ? Judgement(text: "Nearly full", sign: .warning)
            : Judgement(text: "Within its capacity", sign: .good))
    }
    if report.usage.entries == 0 { all.append(Judgement(text: "Empty", sign: .note)) }
    let errors = report.findingCounts[.error, default: 0]
    let warnings = report.findingCounts[.warning, default: 0]
    if errors > 0 {
      all.append(Judgement(text: "Integrity: \(findingCounts[0])", sign: .error))
    } else if warnings > 0 {
      all.append(
        Judgement(text: "Integrity: no errors, \(findingCounts[1])", sign: .warning))
    } else {
      all.append(Judgement(text: "Integrity: no errors, no warnings", sign: .good))
    }
    return all
  }

  /// The size on disk.
  var used: String { ByteSizeText.text(report.usage.footprint.totalBytes) }

  /// The rest of the sentence that begins with ``used``.
  var usedOf: String {
    report.usage.capacityBytes.map { "of \(ByteSizeText.text($0)) used." } ?? "on disk."
  }

  /// The share of bodies that are stale.
  var staleShare: String { Self.percent(report.staleBytes, of: report.usage.bodyBytes) }

  /// The rest of the sentence that begins with ``staleShare``.
  let staleSuffix = "of the body bytes are stale."

  /// The largest hosts: as few as have three quarters of the bytes, at most three.
  var leadingHosts: ArraySlice<CacheReport.Host> {
    var bytes: ByteCount = 0
    let count = report.hosts.prefix(3).firstIndex { host in
      bytes += host.sum.bytes
      return bytes >= report.usage.bodyBytes / 4 * 3
    }
    return report.hosts.prefix(min(3, (count ?? 2) + 1)).filter { $0.sum.bytes > 0 }[...]
  }

  /// The words before the names of ``leadingHosts``.
  var leadingHostsPrefix: String {
    let subject =
      switch leadingHosts.count {
      case 0: ""
      case 1: "One host accounts for"
      case 2: "Two hosts account for"
      default: "Three hosts account for"
      }
    let bytes = leadingHosts.reduce(0 as ByteCount) { $0 + $1.sum.bytes }
    return "\(subject) \(Self.percent(bytes, of: report.usage.bodyBytes)) of the bytes: "
  }

  /// Whether there are so few entries that a chart of them would say less than their list.
  var isTiny: Bool { report.usage.entries < 8 }

  /// The share of entries that have half of the bytes; of few entries, the size of the largest.
  var halfSentence: String {
    let total = report.usage.bodyBytes
    guard total > 0 else { return "no body bytes" }
    if isTiny, let largest = report.largest.first {
      return "the largest has \(ByteSizeText.text(largest.size))"
    }
    var (bytes, entries): (ByteCount, Int64) = (0, 0)
    for group in report.sizes.reversed() {
      let missing = total / 2 - bytes
      guard missing > 0 else { break }
      // Bodies in a group are of similar size, so a share of its bytes is about the same share of its entries.
      let part = min(1, Double(missing) / Double(max(1, group.sum.bytes)))
      entries += max(1, Int64(Double(group.sum.entries) * part))
      bytes += group.sum.bytes
    }
    return
      "half of the bytes are in \(Self.percent(entries, of: report.usage.entries)) of the entries"
  }

  /// Returns a number with thousands separators.
  static func grouped(_ number: Int64) -> String {
    var text = TextBuffer()
    text.append(grouped: number)
    return ByteString(text.bytes).string ?? ""
  }

  /// Returns a size without a decimal that is 0: `2 KiB`.
  static func roundSize(_ bytes: ByteCount) -> String {
    let text = ByteSizeText.text(bytes)
    guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return text }
    let rest = text[text.utf8.index(after: point)...]
    return rest.utf8.starts(with: "0 ".utf8) ? "\(text[..<point])\(rest.dropFirst())" : text
  }

  /// Returns the share of one size in another.
  static func percent(_ part: ByteCount, of whole: ByteCount) -> String {
    percent(part.bytes, of: whole.bytes)
  }

  /// Returns a share: `<0.1%`, `6.6%`, `59%`.
  static func percent(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0, part > 0 else { return "0%" }
    let percent = Double(part) / Double(whole) * 100
    // A share that is there must not be shown as nothing.
    if percent < 0.05 { return "<0.1%" }
    if percent >= 9.95 { return "\(BarText.percent(part, of: whole))%" }
    var text = TextBuffer()
    text.append(tenthsOf: percent)
    return "\(ByteString(text.bytes).string ?? "")%"
  }
}

extension ReportWords {
  /// Returns the shortened name of a host.
  func name(of host: CacheReport.Host) -> ByteString {
    host.name.map { bounded(secrets.url($0, for: .people), to: Length.name) } ?? "no host"
  }

  /// Returns the shortened path of a folder.
  func name(of folder: CacheReport.Folder) -> ByteString {
    let path = secrets.url(folder.path, for: .people)
    return path.bytes.isEmpty ? "/" : bounded(path, to: Length.name)
  }

  /// Returns the part of the URL of an entry after its folder, shortened.
  func name(of entry: CacheReport.Entry, in folder: CacheReport.Folder) -> ByteString {
    guard let url = entry.url else { return "no URL" }
    let shown = secrets.url(url, for: .people)
    let rest = URLTail.of(shown)
    let path = secrets.url(folder.path, for: .people).bytes
    let name = rest.bytes.starts(with: path) ? ByteString(Array(rest.bytes[path.count...])) : rest
    return name.bytes.isEmpty ? "/" : bounded(name, to: Length.name)
  }

  /// Returns the shortened URL of an entry.
  func url(of entry: CacheReport.Entry) -> ByteString {
    entry.url.map { bounded(secrets.url($0, for: .people), to: Length.url) } ?? "no URL"
  }

  /// Splits the URL of an entry after its authority.
  func urlParts(of entry: CacheReport.Entry) -> (origin: ByteString, rest: ByteString) {
    let url = url(of: entry).bytes
    let count = url.count - URLTail.of(ByteString(url)).bytes.count
    return (ByteString(Array(url[..<count])), ByteString(Array(url[count...])))
  }

  /// Returns text as it is shown, with its middle left out if it is too long.
  func bounded(_ text: ByteString, to limit: Int) -> ByteString {
    // Escape first, because escaping makes text longer.
    ByteString(Excerpt.of(HostileText.shown(text).bytes, characters: limit))
  }
}

extension CacheReport.State {
  /// The title of the state.
  var title: String {
    switch self {
    case .fresh: "Fresh"
    case .validatable: "Stale, with a validator"
    case .expired: "Stale, without a validator"
    case .noLifetime: "No lifetime"
    case .unknown: "Unknown"
    }
  }

  /// The meaning of the state.
  var meaning: String {
    switch self {
    case .fresh: "within its lifetime"
    case .validatable: "the server can confirm it by its ETag or Last-Modified"
    case .expired: "it must be downloaded again"
    case .noLifetime: "no max-age, no Expires, and no basis for a heuristic"
    case .unknown: "its header fields or the time it was stored cannot be read"
    }
  }

  /// The state in a word.
  var word: String {
    switch self {
    case .fresh: ResponseFreshness.State.fresh.words
    case .validatable, .expired: ResponseFreshness.State.stale.words
    case .noLifetime: ResponseFreshness.State.noLifetime.words
    case .unknown: ResponseFreshness.State?.none.words
    }
  }

  /// The rank from good to bad, with unknown last.
  var rank: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }
}

/// The findings of one rule of an audit, in words.
struct AuditRuleText: Sendable {
  /// How urgent they are.
  let sign: ReportWords.Sign
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
        sign: Sign(rule.severity), title: "\(Self.grouped(count)) × \(rule.id):",
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

/// A finding about the integrity of a cache, in words.
struct FindingText: Hashable, Sendable {
  /// How urgent it is, or that it is in order.
  let sign: ReportWords.Sign
  /// The subject.
  let title: String
  /// The description.
  let text: String
  /// The command that shows the repair, if it can be repaired.
  let command: ByteString?
}

extension ReportWords {
  /// The findings, and what is in order.
  var findings: [FindingText] {
    var all = report.findings.map { text(of: $0) }
    // What was checked and is in order is said too. Silence could as well mean that nobody looked.
    if report.usage.footprint.orphanFiles == 0 {
      all.append(good("Files:", "Every body file has an entry."))
    }
    if report.findings.isEmpty {
      let entries = QuantityWords.counted(report.usage.entries, "entry was", "entries were")
      all.append(good("Entries:", "\(entries) decoded without problems."))
    }
    let log = report.usage.footprint.reclaimableLogBytes
    // A small log is normal in WAL mode. One of more than a twentieth explains why a footprint is
    // larger than its parts suggest.
    if report.store.inUse, log > report.usage.footprint.totalBytes / 20 {
      all.append(
        good(
          "Write-ahead log:",
          "the app that has the cache open will free \(ByteSizeText.text(log)) when it quits."))
    }
    return all
  }

  private func good(_ title: String, _ text: String) -> FindingText {
    FindingText(sign: .good, title: title, text: text, command: nil)
  }

  private func text(of finding: CacheReport.FindingCount) -> FindingText {
    // A report may be of an archive or of a cache that this user cannot write to.
    let repair = report.canBeChanged ? finding.code.repair : nil
    let size =
      finding.code.repair == .orphans && report.orphans.bytes > 0
      ? " (\(ByteSizeText.text(report.orphans.bytes)))" : ""
    return FindingText(
      sign: Sign(finding.code.severity),
      title: "\(Self.grouped(finding.count)) × \(finding.code.name)\(size):",
      text: "\(finding.code.meaning).",
      // Always with `--dry-run`: nothing that is copied out of a page changes a cache before the
      // user has seen what it would do.
      command: repair.map { command("check", "--repair=\($0.rawValue) --dry-run") })
  }

  /// The number of findings of each severity, as `check` counts and names them.
  var findingCounts: [String] {
    Finding.Severity.allCases.map { severity in
      severity.counted(report.findingCounts[severity, default: 0])
    }
  }

  /// Whether there are errors, not only warnings and notes.
  var hasErrors: Bool { report.findingCounts[.error, default: 0] > 0 }

  /// The command that finds the rest.
  var checkCommand: ByteString { command("check", "--full") }

  /// The command that lists all entries as the table does.
  var listCommand: ByteString { command("list", "--sort size --reverse") }
}
