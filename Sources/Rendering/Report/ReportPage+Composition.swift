import Administration
import Bytes
import ResponseStorage

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
