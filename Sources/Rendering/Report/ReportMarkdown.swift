public import Administration
public import Auditing
import Bytes
import ResponseStorage

/// A report as Markdown: the same numbers as on the page, without drawings.
struct ReportMarkdown: Sendable {
  private static let entryCount = 20

  let words: ReportWords
  let generator: String
  /// The findings of an audit; `nil` if there was none.
  var audit: AuditTally?

  private var report: CacheReport { words.report }

  /// The whole document.
  var markdown: Markdown {
    """
    # URL cache report

    \(code: ByteString(report.store.path), isCell: false), \(TimeText.text(report.now))

    \(verdict)
    ## Suggestions

    \(suggestions)
    ## Where the bytes are

    \(table(words.hostTable))
    ## Age

    \(table(words.ageTable))
    ## What an age limit would free

    \(table(words.limitTable))
    ## Composition

    \(table(words.stateTable))
    \(table(words.savingsTable))
    \(table(words.versionTable))
    \(churn)\
    \(table(words.partTable))
    ## Largest entries

    \(entries)
    ## Integrity

    \(findings)
    \(auditSection)Made by \(generator).

    """
  }

  private var verdict: Markdown {
    let judgements = words.judgements.map(\.text).joined(separator: ". ")
    var text: Markdown = "**\(judgements).** \(words.used) \(words.usedOf)"
    if let capacity = report.usage.capacityBytes {
      let full = ReportWords.percent(report.usage.footprint.totalBytes, of: capacity)
      text += " That is \(full) of the capacity."
    }
    if report.usage.bodyBytes > 0 { text += " \(words.staleShare) \(words.staleSuffix)" }
    text += " \(QuantityWords.counted(report.usage.entries, "entry", "entries"))"
    return "\(text); \(words.halfSentence).\n"
  }

  private var suggestions: Markdown {
    guard !words.suggestions.isEmpty else {
      return "\(words.noSuggestion)\n"
    }
    var list: Markdown = ""
    for suggestion in words.suggestions {
      list += """
        - **\(suggestion.gain)**\(suggestion.how)
          \(code: suggestion.command, isCell: false)

        """
    }
    return list
  }

  /// Returns the lines of a table. Names from the cache are formatted as code.
  private func table(_ table: ReportTable) -> Markdown {
    var text: Markdown = "|"
    for column in table.columns { text += " \(column) |" }
    text += "\n|---|"
    for _ in table.columns.dropFirst() { text += "--:|" }
    text += "\n"
    for row in table.rows {
      let name: Markdown = row.isFromCache ? "\(code: row.name)" : "\(row.name.string ?? "")"
      text += "| \(name)"
      if let meaning = row.meaning { text += ": \(meaning)" }
      text += " |"
      for value in row.values { text += " \(value) |" }
      text += "\n"
    }
    return text
  }

  private var auditSection: Markdown {
    guard let audit else { return "" }
    var list: Markdown = ""
    for rule in words.auditTexts(of: audit) {
      let mark: Markdown = rule.sign == .note ? "" : "**\(rule.sign.mark)** "
      list += "- \(mark)\(rule.title) \(rule.text) ("
      for (index, host) in rule.hosts.enumerated() {
        let comma: Markdown = index > 0 ? ", " : ""
        list += "\(comma)\(code: host, isCell: false)"
      }
      list += "\(rule.rest))\n"
    }
    return """
      ## Audit

      \(list)
      \(words.auditCounts(of: audit)), as counted by `audit`. Secrets are not shown. To see where they are, run \
      \(code: words.auditCommand, isCell: false)


      """
  }

  private var churn: Markdown {
    words.churnTable.map { "\(table($0))\n" } ?? ""
  }

  private var entries: Markdown {
    var rows: Markdown = """
      | URL | Type | Status | Size | Age | Freshness |
      |---|---|--:|--:|--:|---|

      """
    for entry in report.largest.prefix(Self.entryCount) {
      let age = entry.stored.map { AgeText.text(from: $0, to: report.now) } ?? "–"
      let type: Markdown = entry.mimeType.map { "\(code: words.bounded($0, to: 40))" } ?? "–"
      rows += """
        | \(code: words.url(of: entry)) | \(type) | \(entry.status.map { "\($0)" } ?? "–") \
        | \(ByteSizeText.text(entry.size)) | \(age) | \(entry.state.word) |

        """
    }
    return rows
  }

  private var findings: Markdown {
    var list: Markdown = ""
    for finding in words.findings {
      let isUrgent = finding.sign == .error || finding.sign == .warning
      let mark: Markdown = isUrgent ? "**\(finding.sign.mark)** " : ""
      list += "- \(mark)\(finding.title) \(finding.text)"
      if let command = finding.command { list += " \(code: command, isCell: false)" }
      list += "\n"
    }
    return """
      \(list)
      \(words.findingCounts.joined(separator: ", ")), as counted by `check`. To compare the indexes of the database with its \
      tables as well, run \
      \(code: words.checkCommand, isCell: false)

      """
  }
}

/// Renders the report of a cache, as HTML or Markdown.
public struct ReportRenderer: Sendable {
  /// Which secrets the report may contain.
  public var secrets: SecretPolicy

  /// The name and the version of the program.
  public var generator: String

  /// Creates a renderer.
  public init(secrets: SecretPolicy, generator: String) {
    self.secrets = secrets
    self.generator = generator
  }

  /// Appends a report as one HTML file that loads nothing.
  ///
  /// - Parameter audit: The findings of an audit; `nil` for a report without them.
  public func appendHTML(
    _ report: CacheReport, audit: AuditTally? = nil, into buffer: inout TextBuffer
  ) {
    let page = ReportPage(
      words: ReportWords(report: report, secrets: secrets), generator: generator, audit: audit)
    buffer.append(contentsOf: page.html.bytes)
  }

  /// Appends a report as Markdown.
  ///
  /// - Parameter audit: The findings of an audit; `nil` for a report without them.
  public func appendMarkdown(
    _ report: CacheReport, audit: AuditTally? = nil, into buffer: inout TextBuffer
  ) {
    let text = ReportMarkdown(
      words: ReportWords(report: report, secrets: secrets), generator: generator, audit: audit)
    buffer.append(contentsOf: text.markdown.bytes)
  }
}

/// A table of a report as text, for all output formats.
struct ReportTable: Hashable, Sendable {
  /// A row of a table.
  struct Row: Hashable, Sendable {
    /// The name of the row.
    let name: ByteString
    // Markdown shows such a name as code and HTML isolates its direction, as text from right to
    // left would turn the rest of the line around.
    /// Whether the name is text from the cache.
    var isFromCache = false
    /// The meaning of the name, if it needs an explanation.
    var meaning: String?
    /// A text for each column except the first.
    let values: [String]
  }

  /// The column heads.
  let columns: [String]
  /// The rows below the heads.
  let rows: [Row]
}
