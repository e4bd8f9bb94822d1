import Administration

extension ReportPage {
  /// The findings that a single scan of the cache can detect.
  var findings: HTML {
    var items: HTML = ""
    for finding in words.findings {
      let command: HTML = finding.command.map { code($0) } ?? ""
      items += """
        <li class="\(finding.isGood ? "ok" : "no")"><b>\(finding.title)</b> \(finding.text)\(command)</li>

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
