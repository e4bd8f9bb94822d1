import Administration
import ResponseStorage

extension ReportPage {
  /// What the cache is made of: by freshness, and by what is on disk.
  var composition: HTML {
    """
    <section class="card">\(heading("What it is made of"))
    <p class="sub">Bodies by freshness</p>
    \(stack(CacheReport.State.allCases.map { ("f-\($0.rawValue)", report.states[$0].bytes) }))
    <table class="plain"><thead class="vh"><tr><th>State</th><th>Entries</th><th>Bodies</th>\
    <th>Share</th></tr></thead><tbody>
    \(stateRows)</tbody></table>
    <p class="sub gap">On disk</p>
    \(stack(words.parts.enumerated().map { ("d\($0 + 1)", $1.bytes) }))
    <table class="plain"><tbody>
    \(partRows)</tbody></table></section>
    """
  }

  private var stateRows: HTML {
    var rows: HTML = ""
    for state in CacheReport.State.allCases {
      let sum = report.states[state]
      rows += """
        <tr><th scope="row"><i class="b-\(state.rawValue)"></i>\(state.title) \
        <span class="mut">\(state.meaning)</span></th><td>\(ReportWords.grouped(sum.entries))</td>\
        <td>\(ByteSizeText.text(sum.bytes))</td>\
        <td>\(ReportWords.percent(sum.bytes, of: report.usage.bodyBytes))</td></tr>

        """
    }
    return rows
  }

  private var partRows: HTML {
    var rows: HTML = ""
    for (index, part) in words.parts.enumerated() {
      rows += """
        <tr><th scope="row"><i class="d\(Int64(index + 1))"></i>\(part.name)</th>\
        <td>\(ByteSizeText.text(part.bytes))</td></tr>

        """
    }
    return rows
  }

  /// A bar of parts, each with the class of its colour.
  private func stack(_ parts: [(kind: String, bytes: Int64)]) -> HTML {
    let whole = parts.reduce(0) { $0 + Double($1.bytes) }
    var (x, bars): (Double, HTML) = (0, "")
    for part in parts where whole > 0 {
      let width = Double(part.bytes) / whole * 1000
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

extension ReportWords {
  /// The parts of what is on disk.
  var parts: [(name: String, bytes: Int64)] {
    let footprint = report.usage.footprint
    switch report.store.format {
    case .apple: break
    case .foundation:
      return [
        ("files of entries", footprint.bodyFilesBytes), ("other files", footprint.orphanBytes),
      ]
    default: return [("the archive", footprint.totalBytes)]
    }
    let database = footprint.databaseBytes
    let beside = max(0, max(0, database - report.inlineBytes) - footprint.freeBytes)
    return [
      ("body files", max(0, footprint.bodyFilesBytes - footprint.orphanBytes)),
      ("bodies in the database", min(report.inlineBytes, database)),
      ("all else in the database", beside), ("orphan files", footprint.orphanBytes),
      ("free pages", footprint.freeBytes),
      ("write-ahead log", footprint.walBytes.addingClamped(footprint.shmBytes)),
    ].filter { $0.1 > 0 }
  }
}
