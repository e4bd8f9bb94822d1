import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The layout of a chart in two columns.
  enum Chart {
    static let left = 56.0
    static let right = 552.0
    static let top = 14.0
    static let bottom = 216.0
    static var width: Double { right - left }
    static var height: Double { bottom - top }
    /// The bottom of a chart next to a long table.
    static let lowBottom = 300.0

    /// Returns the anchor of a label below the axis. Labels at the ends stay within the chart.
    static func anchor(at x: Double) -> String {
      x < left + 20 ? "start" : x > right - 20 ? "end" : "middle"
    }
  }

  /// The bodies by age and freshness.
  var ages: HTML {
    """
    <section class="card">\(heading("Age"))
    <p class="sub">\(report.agesAreDates ? "Bodies by the date they were stored" : "Bodies by age")</p>
    <svg viewBox="0 0 560 250" role="img" aria-label="Bytes of bodies by age and freshness">\
    \(ageGrid)\(ageBars)<path class="base" d="M\(Chart.left) \(Chart.bottom)H\(Chart.right)"/></svg>
    \(legend())\(details(words.ageTable))</section>
    """
  }

  /// The age ranges from the first to the last with entries.
  private var shownAges: ArraySlice<CacheReport.AgeGroup> {
    let first = report.ages.firstIndex { $0.sums.total.entries > 0 } ?? report.ages.endIndex
    // Empty ranges between others stay, as a gap in the ages says something.
    let last = report.ages.lastIndex { $0.sums.total.entries > 0 } ?? first - 1
    return report.ages[first..<max(first, last + 1)]
  }

  /// How many bars share a name on the axis: dates are too long for one each.
  private var nameStep: Int {
    guard report.agesAreDates else { return 1 }
    let width = 6.5 * Double(shownAges.first?.name?.bytes.count ?? 0) + 10
    return max(1, Int((width * Double(shownAges.count) / Chart.width).rounded(.up)))
  }

  private var ageScale: AxisScale {
    AxisScale(holding: shownAges.map(\.sums.total.bytes).max() ?? 0)
  }

  private var ageGrid: HTML {
    var lines: HTML = ""
    for mark in ageScale.marks {
      let y = Chart.bottom - Chart.height * mark.part
      lines += """
        <path class="grid" d="M\(Chart.left) \(y)H\(Chart.right)"/>\
        <text class="ax" text-anchor="end" x="\(Chart.left - 7)" y="\(y + 3.5)">\(mark.text)</text>
        """
    }
    return lines
  }

  private var ageBars: HTML {
    let scale = ageScale
    let width = Chart.width / Double(max(1, shownAges.count))
    var bars: HTML = ""
    for (index, group) in shownAges.enumerated() {
      let x = Chart.left + Double(index) * width
      let bar = min(width - 6, 64)
      var (y, parts): (Double, HTML) = (Chart.bottom, "")
      for state in CacheReport.State.allCases where group.sums[state].bytes > 0 {
        // Even a very small sum must be visible.
        let height = max(0.6, Chart.height * scale.part(group.sums[state].bytes))
        y -= height
        parts += """
          <rect class="f-\(state.rawValue)" x="\(x + (width - bar) / 2)" y="\(y)" width="\(bar)" \
          height="\(height)"/>
          """
      }
      // Narrow screens only have room for every second name.
      let isExtra = index % (2 * nameStep) != 0 && shownAges.count > 6
      let name: ByteString = index % nameStep == 0 ? name(of: group) : ""
      // With few bars there is room for units.
      let sum =
        shownAges.count <= 7
        ? ByteSizeText.text(group.sums.total.bytes) : scale.number(group.sums.total.bytes)
      bars += """
        <g class="bar"><title>\(sentence(on: group))</title>\
        <rect class="hit" x="\(x)" y="\(Chart.top)" width="\(width)" height="\(Chart.height)"/>\(parts)\
        <text class="ax sum" text-anchor="middle" x="\(x + width / 2)" y="\(y - 5)">\
        \(sum)</text>\
        <text class="\(isExtra ? "ax alt" : "ax")" text-anchor="middle" x="\(x + width / 2)" \
        y="\(Chart.bottom + 17)">\(name)</text></g>

        """
    }
    return bars
  }

  /// Returns the name of an age range, short enough for the axis.
  private func name(of group: CacheReport.AgeGroup) -> ByteString {
    switch group.name {
    case "in the future": "future"
    case "under 1 h": "<1 h"
    case "1 y or more": ">1 y"
    case let name?: name
    case nil: "unknown"
    }
  }

  private func sentence(on group: CacheReport.AgeGroup) -> HTML {
    let total = group.sums.total
    var text: HTML = """
      \(group.name ?? "unknown age"): \(ByteSizeText.text(total.bytes)) in \
      \(QuantityWords.counted(total.entries, "entry", "entries"))
      """
    // Stale entries with and without a validator share one word.
    var sums: [(word: String, sum: CacheReport.Sum)] = []
    for state in CacheReport.State.allCases where group.sums[state].entries > 0 {
      // The colors tell them apart, and a sentence with the same word twice would look like a
      // mistake.
      if let last = sums.indices.last, sums[last].word == state.word {
        sums[last].sum.bytes += group.sums[state].bytes
      } else {
        sums.append((state.word, group.sums[state]))
      }
    }
    for part in sums { text += ", \(part.word) \(ByteSizeText.text(part.sum.bytes))" }
    return text
  }
}
