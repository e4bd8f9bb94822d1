import Administration
import ResponseStorage

/// A report as Markdown: the same figures without drawings.
struct ReportMarkdown: Sendable {
  private static let entryCount = 20

  let words: ReportWords
  let generator: String

  private var report: CacheReport { words.report }

  /// The whole text.
  var markdown: Markdown {
    """
    # URL cache report

    \(code: ByteString(report.store.path), isCell: false), \(TimeText.text(report.now))

    \(verdict)
    ## What you could do

    \(suggestions)
    ## Where the bytes are

    \(hosts)
    ## How old it is

    \(ages)
    ## What a limit of age would free

    \(limits)
    ## What it is made of

    \(states)
    \(parts)
    ## Largest entries

    \(entries)
    ## Integrity

    \(findings)
    Made by \(generator).

    """
  }

  private var verdict: Markdown {
    let judgement = words.judgement
    var text: Markdown = "**\(judgement.text).** \(words.used) \(words.usedOf)"
    if let capacity = report.usage.capacityBytes {
      let full = ReportWords.percent(report.usage.footprint.totalBytes, of: capacity)
      text += " That is \(full) of the capacity."
    }
    if report.usage.bodyBytes > 0 { text += " \(words.staleShare) \(words.staleSuffix)" }
    text += " \(ReportWords.counted(report.usage.entries, "entry", "entries"))"
    return "\(text), \(words.halfSentence).\n"
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

  private var hosts: Markdown {
    var rows: Markdown = """
      | Host | Entries | Bodies | Share | Stale |
      |---|--:|--:|--:|--:|

      """
    for host in report.hosts {
      rows += """
        | \(code: words.name(of: host)) | \(ReportWords.grouped(host.sum.entries)) \
        | \(ByteSizeText.text(host.sum.bytes)) \
        | \(ReportWords.percent(host.sum.bytes, of: report.usage.bodyBytes)) \
        | \(ReportWords.percent(host.staleBytes, of: host.sum.bytes)) |

        """
    }
    if let others = report.otherHosts {
      let count = others.groups.map { ReportWords.counted($0, "other host", "other hosts") }
      rows += """
        | \(count ?? "all other hosts") | \(ReportWords.grouped(others.entries)) \
        | \(ByteSizeText.text(others.bytes)) \
        | \(ReportWords.percent(others.bytes, of: report.usage.bodyBytes)) | – |

        """
    }
    return rows
  }

  private var ages: Markdown {
    var rows: Markdown = """
      | Age | Entries | Bodies | Fresh | Stale, can be validated | Stale, has to be loaded anew | Unknown |
      |---|--:|--:|--:|--:|--:|--:|

      """
    for group in report.ages where group.sums.total.entries > 0 {
      rows += """
        | \(group.name?.string ?? "unknown") | \(ReportWords.grouped(group.sums.total.entries)) \
        | \(ByteSizeText.text(group.sums.total.bytes)) |
        """
      for state in CacheReport.State.allCases {
        rows += " \(ByteSizeText.text(group.sums[state].bytes)) |"
      }
      rows += "\n"
    }
    return rows
  }

  private var limits: Markdown {
    let days: Set<Int64> = [1, 7, 14, 30, 60, 90, 180, 365, 730]
    var rows: Markdown = """
      | Older than | Frees | Share | Entries | Still fresh |
      |---|--:|--:|--:|--:|

      """
    for limit in report.ageLimits
    where limit.seconds % 86_400 == 0 && days.contains(limit.seconds / 86_400) {
      rows += """
        | \(ReportWords.duration(limit.seconds)) | \(ByteSizeText.text(limit.removed.bytes)) \
        | \(ReportWords.percent(limit.removed.bytes, of: report.usage.bodyBytes)) \
        | \(ReportWords.grouped(limit.removed.entries)) \
        | \(ReportWords.grouped(limit.fresh.entries)) |

        """
    }
    return rows
  }

  private var states: Markdown {
    var rows: Markdown = """
      | Freshness | Entries | Bodies | Share |
      |---|--:|--:|--:|

      """
    for state in CacheReport.State.allCases {
      let sum = report.states[state]
      rows += """
        | \(state.title): \(state.meaning) | \(ReportWords.grouped(sum.entries)) \
        | \(ByteSizeText.text(sum.bytes)) \
        | \(ReportWords.percent(sum.bytes, of: report.usage.bodyBytes)) |

        """
    }
    return rows
  }

  private var parts: Markdown {
    var rows: Markdown = """
      | On disk | Bytes |
      |---|--:|

      """
    for part in words.parts { rows += "| \(part.name) | \(ByteSizeText.text(part.bytes)) |\n" }
    return rows
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
    for problem in words.problems {
      let mark: Markdown = problem.isGood ? "" : "**!** "
      list += "- \(mark)\(problem.title) \(problem.text)"
      if let command = problem.command { list += " \(code: command, isCell: false)" }
      list += "\n"
    }
    return """
      \(list)
      This is what reading every entry once has shown. What looks at everything: \
      \(code: words.checkCommand, isCell: false)

      """
  }
}
