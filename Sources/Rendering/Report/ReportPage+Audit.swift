import Auditing

extension ReportPage {
  /// The findings of an audit; empty if there was none.
  var auditCard: HTML {
    guard let audit else { return "" }
    var items: HTML = ""
    for rule in words.auditTexts(of: audit) {
      var hosts: HTML = ""
      for host in rule.hosts { hosts += "\(hosts == HTML() ? "" : ", ")<bdi>\(host)</bdi>" }
      items += """
        <li class="\(rule.isNote ? "ok" : "no")"><b>\(rule.title)</b> \(rule.text) \
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
