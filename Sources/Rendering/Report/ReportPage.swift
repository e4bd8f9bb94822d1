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
    report.store.schemaVersion.map { "schema \($0)" } ?? report.store.format.rawValue
  }

  private var footer: HTML {
    """
    <footer><p>Made by \(generator). This file is self-contained: it loads and sends nothing. \
    1 KiB is 1024 bytes; times are UTC. Freshness follows RFC 9111 at the time above. Responses that an app \
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
