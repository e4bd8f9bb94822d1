import Administration

extension ReportPage {
  /// The findings that a single scan of the cache can detect.
  var findings: HTML {
    var items: HTML = ""
    for problem in words.problems {
      let command: HTML = problem.command.map { code($0) } ?? ""
      items += """
        <li class="\(problem.isGood ? "ok" : "no")"><b>\(problem.title)</b> \(problem.text)\(command)</li>

        """
    }
    return """
      <section class="card" id="integrity">\(heading("Integrity"))
      <ul class="chk">
      \(items)</ul>
      <p class="sub gap">\(words.findingCounts.joined(separator: ", ")), as <code class="in">check</code> counts them. This command also compares the indexes of the database with its tables:</p>
      \(code(words.checkCommand))</section>
      """
  }
}
