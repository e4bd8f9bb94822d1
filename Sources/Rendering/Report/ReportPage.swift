import Administration
import Auditing
import Bytes
import ResponseStorage

/// A report as one HTML file that loads nothing and works without its script.
///
/// Each section has its own source file. There are no `style` attributes and no event handlers: the Content Security
/// Policy of the page only allows the style sheet and the script whose digests it contains.
struct ReportPage: Sendable {
  let words: ReportWords
  let generator: String
  /// The findings of an audit; `nil` if there was none.
  var audit: AuditTally?

  var report: CacheReport { words.report }

  /// The whole file.
  var html: HTML {
    """
    <!doctype html>
    <html lang="en">
    \(head)
    <body>
    \(banner)
    <main class="wrap">
    \(verdict)
    \(figures)
    \(contents)
    \(findings)
    \(auditCard)\(footer)
    </main>
    <script type="application/json" id="data">\(HTML(json: data))</script>
    <script>\(ReportScript.source)</script>
    </body>
    </html>

    """
  }

  /// The sections about entries. Without entries, charts would be empty frames, so there is one sentence instead.
  private var contents: HTML {
    guard report.usage.entries > 0 else {
      return """
        <section class="card" id="empty">\(heading("No entries"))
        <p>The cache is empty. It occupies a little space even without entries.</p>
        <p class="sub gap">On disk</p>
        \(disk)</section>
        """
    }
    if words.isTiny {
      return """
        \(entries)
        <div class="two">
        \(composition)
        \(diskCard)
        </div>
        """
    }
    return """
      \(places)
      <div class="two">
      \(ages)
      \(limits)
      </div>
      <div class="two">
      <div>\(sizes)
      \(diskCard)</div>
      \(composition)
      </div>
      \(entries)
      """
  }

  private var head: HTML {
    """
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
    script-src 'sha256-\(ReportScript.digest)'; style-src 'sha256-\(ReportStyle.digest)'; \
    base-uri 'none'; form-action 'none'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <meta name="color-scheme" content="light dark">
    <meta name="generator" content="\(generator)">
    <title>\(words.used) \(words.usedOf) \(words.bounded(ByteString(report.store.path), to: 160))</title>
    <style>\(ReportStyle.source)</style>
    </head>
    """
  }

  private var banner: HTML {
    """
    <header class="top"><div class="wrap">
    <div class="id">\(Self.logo)<div><h1>URL cache report</h1>\
    <p class="path"><bdi>\(ByteString(report.store.path))</bdi></p></div></div>
    <dl class="meta"><div><dt>Created</dt><dd>\(time(report.now))</dd></div>\
    <div><dt>Format</dt><dd>\(storeName)</dd></div></dl>
    <button id="theme" type="button" hidden aria-pressed="false">Dark</button>
    </div></header>
    """
  }

  private static let logo: HTML = """
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">\
    <rect class="f-fresh" x="2" y="2" width="17" height="28" rx="4"/>\
    <rect class="f-validatable" x="21" y="2" width="9" height="16" rx="3"/>\
    <rect class="f-expired" x="21" y="20" width="9" height="10" rx="3"/></svg>
    """

  private var storeName: String {
    report.store.schemaVersion == nil ? report.store.format.rawValue : report.store.shownFormat
  }

  private var footer: HTML {
    """
    <footer><p>Made by \(generator). This file is self-contained: it loads and sends nothing. \
    1 KiB is 1,024 bytes; times are UTC. Freshness follows RFC 9111 at the time above. Responses that an app \
    holds only in memory are not included.\(secretsNote)</p></footer>
    """
  }

  private var secretsNote: HTML {
    words.secrets.showSecrets
      ? " URLs are shown in full, including secrets." : " Secrets in URLs are masked."
  }

  /// Returns a time element.
  func time(_ moment: Timestamp) -> HTML {
    // In UTC and not in the reader's time zone: converting it would need the script, and two
    // readers of one report would see two times.
    "<time datetime=\"\(TimeText.text(moment))\">\(TimeText.text(moment))</time>"
  }

  /// Returns a command that wraps between words, and within a word only if the word is longer than a line. An option
  /// stays on one line with its value.
  ///
  /// - Parameter option: An option with its value that the script replaces.
  func code(_ command: ByteString, replacing option: String? = nil) -> HTML {
    var lines: HTML = ""
    for word in Self.unbrokenWords(of: command) {
      if lines != HTML() { lines += " " }
      let mark: HTML = ByteString(word) == option.map { ByteString($0) } ? " id=\"wi-k\"" : ""
      lines += "<span\(mark)>\(ByteString(word))</span>"
    }
    return "<code>\(lines)</code>"
  }

  /// Splits a command into words, and joins each option with its value if that is short.
  private static func unbrokenWords(of command: ByteString) -> [[UInt8]] {
    // A command that breaks in the middle of an option is hard to read, and easy to copy in part.
    let hyphen = UInt8(ascii: "-")
    var words: [[UInt8]] = []
    for word in command.bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    {
      if let last = words.last, last.first == hyphen, !last.contains(UInt8(ascii: " ")),
        word.first != hyphen, last.count + word.count < longestUnbroken
      {
        words[words.count - 1] += [UInt8(ascii: " ")] + word
      } else {
        words.append(Array(word))
      }
    }
    return words
  }

  /// The maximum number of characters of an option with its value that stay on one line: as many as a phone shows.
  private static let longestUnbroken = 34

  /// Returns the head of a section.
  func heading(_ title: String, _ rest: HTML = "") -> HTML {
    "<div class=\"ch\"><h2>\(title)</h2>\(rest)</div>"
  }

  /// The freshness states of the entries with their colors.
  ///
  /// - Parameter hasOtherData: Whether the drawing also shows data other than bodies.
  func legend(hasOtherData: Bool = false) -> HTML {
    var items: HTML = ""
    // States that no entry has would only make the reader look for their colors.
    for state in CacheReport.State.allCases where report.states[state].entries > 0 {
      items += "<li><i class=\"b-\(state.rawValue)\"></i>\(state.title)</li>"
    }
    if hasOtherData { items += "<li><i class=\"b-other\"></i>Data other than bodies</li>" }
    return "<ul class=\"legend\">\(items)</ul>"
  }
}

extension ReportPage {
  /// The findings of an audit; empty if there was none.
  var auditCard: HTML {
    guard let audit else { return "" }
    var items: HTML = ""
    for rule in words.auditTexts(of: audit) {
      var hosts: HTML = ""
      for host in rule.hosts { hosts += "\(hosts == HTML() ? "" : ", ")<bdi>\(host)</bdi>" }
      items += """
        <li class="\(rule.sign.rawValue)"><b>\(rule.title)</b> \(rule.text) \
        <span class="mut">\(hosts)\(rule.rest)</span></li>

        """
    }
    return """
      <section class="card" id="audit">\(heading("Audit"))
      <ul class="chk">
      \(items)</ul>
      <p class="sub gap">\(words.auditCounts(of: audit)), as counted by <code class="in">audit</code>. Secrets are not shown. To see where they are, run:</p>
      \(code(words.auditCommand))</section>

      """
  }
}

extension ReportPage {
  /// The composition of the cache: by freshness, savings and versions.
  var composition: HTML {
    let states = CacheReport.State.allCases
    return """
      <section class="card">\(heading("Composition"))
      <p class="sub">Bodies by freshness</p>
      \(stack(states.map { ("f-\($0.rawValue)", report.states[$0].bytes) }))
      \(table(words.stateTable, marks: states.map { "b-\($0.rawValue)" }, isHeadShown: false))
      <p class="sub gap">If every entry is requested again</p>
      \(table(words.savingsTable, isHeadShown: false))
      <p class="sub gap">Older versions</p>
      \(table(words.versionTable, isHeadShown: false))\(churn)</section>
      """
  }

  private var churn: HTML {
    guard let churn = words.churnTable else { return "" }
    return """

      <p class="sub gap">Stored and removed</p>
      \(table(churn, isHeadShown: false))
      """
  }

  /// The parts of the size on disk, as a section.
  var diskCard: HTML {
    """
    <section class="card">\(heading("On disk"))
    \(disk)</section>
    """
  }

  /// The parts of the size on disk.
  var disk: HTML {
    let parts = words.parts
    return """
      \(stack(parts.map { ($0.color, $0.bytes) }))
      \(table(words.partTable, marks: parts.map(\.color), isHeadShown: false))
      """
  }

  // Hidden from screen readers, which read the table below it.
  /// Returns a stacked bar; each part has the class of its color.
  func stack(_ parts: [(kind: String, bytes: ByteCount)]) -> HTML {
    let whole = parts.reduce(0) { $0 + Double($1.bytes) }
    var (x, bars): (Double, HTML) = (0, "")
    for part in parts where whole > 0 {
      let width = Double(part.bytes) / whole * 1000
      // Narrower parts would be invisible.
      // The numbers are in the table below, so nothing is lost.
      guard width >= 0.5 else { continue }
      bars += """
        <rect class="\(part.kind)" x="\(x)" width="\(max(0.5, width - 2))" height="30"/>
        """
      x += width
    }
    return """
      <svg class="stack" viewBox="0 0 1000 30" preserveAspectRatio="none" aria-hidden="true">\(bars)</svg>
      """
  }
}

extension ReportPage {
  /// The findings that a single scan of the cache can detect.
  var findings: HTML {
    var items: HTML = ""
    for finding in words.findings {
      let command: HTML = finding.command.map { code($0) } ?? ""
      items += """
        <li class="\(finding.sign.rawValue)"><b>\(finding.title)</b> \(finding.text)\(command)</li>

        """
    }
    return """
      <section class="card" id="integrity">\(heading("Integrity"))
      <ul class="chk">
      \(items)</ul>
      <p class="sub gap">\(words.findingCounts.joined(separator: ", ")), as counted by <code class="in">check</code>. To compare the indexes of the database with its tables as well, run:</p>
      \(code(words.checkCommand))</section>
      """
  }
}

extension ReportPage {
  /// The distribution of body sizes: the share of entries, and of bytes, up to each size.
  var sizes: HTML {
    """
    <section class="card">\(heading("Body sizes"))
    <p class="sub">Entries and bytes up to each size; \(words.halfSentence)</p>
    <svg viewBox="0 0 560 330" role="img" \
    aria-label="Share of entries and bytes by body size">\(percentGrid(to: Chart.lowBottom))\(sizeTicks)\
    <path class="l1" d="\(sizeLine { Double($0.entries) })"/><path class="l2" d="\(sizeLine { Double($0.bytes) })"/>\
    <path class="base" d="M\(Chart.left) \(Chart.lowBottom)H\(Chart.right)"/></svg>
    <ul class="legend"><li><i class="l1"></i>share of entries</li>\
    <li><i class="l2"></i>share of bytes</li></ul></section>
    """
  }

  /// The range of the axis, as powers of two.
  private var powers: ClosedRange<Int> {
    func power(_ size: ByteCount) -> Int { 64 - max(size, 1).bytes.leadingZeroBitCount }
    let sizes = report.sizes.map(\.largest).filter { $0 > 0 }
    let first = max(0, power(sizes.first ?? 256) - 1)
    // At least four powers, since an axis of a single one would be a division by zero.
    return first...max(first + 4, power(sizes.last ?? ByteCount(1 << 20)))
  }

  private func x(ofSize size: ByteCount) -> Double {
    // Four steps for each power, as in the groups, so no logarithm is needed.
    let size = Double(max(size, 1))
    let power = Double(size.exponent) + (size.significand - 1)
    let part = (power - Double(powers.lowerBound)) / Double(powers.count - 1)
    return Chart.left + Chart.width * min(1, max(0, part))
  }

  private func sizeLine(_ count: (CacheReport.Sum) -> Double) -> HTML {
    let whole = report.sizes.reduce(0) { $0 + count($1.sum) }
    var line: HTML = "M\(Chart.left) \(Chart.lowBottom)"
    var sum = 0.0
    for group in report.sizes {
      sum += count(group.sum)
      let part = whole > 0 ? sum / whole : 0
      line +=
        "L\(x(ofSize: group.largest)) \(Chart.lowBottom - (Chart.lowBottom - Chart.top) * part)"
    }
    return "\(line)H\(Chart.right)"
  }

  private var sizeTicks: HTML {
    let step = max(2, (powers.count + 5) / 6 / 2 * 2)
    // The upper bound may be 63, and 1 << 63 would be negative.
    let shown = stride(from: powers.lowerBound, through: powers.upperBound, by: step)
      .filter { $0 < 63 }
    return Chart.ticks(
      shown.map { power in
        let size = ByteCount(1 << power)
        return (x(ofSize: size), ReportWords.roundSize(size))
      }, below: Chart.lowBottom)
  }
}

extension ReportPage {
  /// Returns a table with the data of a drawing.
  ///
  /// - Parameters:
  ///   - marks: The color class of each row; empty for no colors.
  ///   - isHeadShown: Whether the column heads are visible, or only available to screen readers.
  func table(_ table: ReportTable, marks: [String] = [], isHeadShown: Bool = true) -> HTML {
    var heads: HTML = ""
    for column in table.columns { heads += "<th>\(column)</th>" }
    var rows: HTML = ""
    for (index, row) in table.rows.enumerated() {
      let mark: HTML = index < marks.count ? "<i class=\"\(marks[index])\"></i>" : ""
      let name: HTML = row.isFromCache ? "<bdi>\(row.name)</bdi>" : "\(row.name)"
      let meaning: HTML = row.meaning.map { " <span class=\"mut\">\($0)</span>" } ?? ""
      let kind: HTML = index < marks.count ? " class=\"mk\"" : ""
      rows += "<tr><th scope=\"row\"\(kind)>\(mark)\(name)\(meaning)</th>"
      for value in row.values { rows += "<td>\(value)</td>" }
      rows += "</tr>\n"
    }
    return """
      <table class="plain"><thead class="\(isHeadShown ? "" : "vh")"><tr>\(heads)</tr></thead><tbody>
      \(rows)</tbody></table>
      """
  }

  // The same numbers as text for screen readers, for copying, and for those who doubt a drawing.
  /// Returns a collapsed table.
  func details(_ table: ReportTable) -> HTML {
    """
    <details><summary>Show as a table</summary><div class="scroll-x">\(self.table(table))</div></details>
    """
  }
}
