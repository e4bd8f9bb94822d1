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

    /// The approximate width of a character of a label, and of one on a narrow screen, where labels are larger.
    private static let (letter, narrowLetter) = (6.5, 9.7)

    /// Returns marks with names below an axis, in the order of their places. A name that would touch the one before it is
    /// left out, on narrow screens only if it would touch it there.
    static func ticks(_ marks: [(x: Double, name: String)], below bottom: Double) -> HTML {
      var ticks: HTML = ""
      var (end, narrowEnd) = (-Double.infinity, -Double.infinity)
      for (x, name) in marks {
        // Names at the ends stay within the chart.
        let anchor = x < left + 20 ? "start" : x > right - 20 ? "end" : "middle"
        func begin(_ letter: Double) -> Double {
          let width = letter * Double(name.utf8.count)
          return anchor == "start" ? x : anchor == "end" ? x - width : x - width / 2
        }
        ticks += "<path class=\"tick\" d=\"M\(x) \(bottom)v4\"/>"
        guard begin(letter) > end + 6 else { continue }
        let isNarrow = begin(narrowLetter) > narrowEnd + 6
        ticks += """
          <text class="\(isNarrow ? "ax" : "ax alt")" text-anchor="\(anchor)" x="\(x)" \
          y="\(bottom + 17)">\(name)</text>
          """
        let count = Double(name.utf8.count)
        end = begin(letter) + letter * count
        if isNarrow { narrowEnd = begin(narrowLetter) + narrowLetter * count }
      }
      return ticks
    }
  }

  /// The bodies by age and freshness.
  var ages: HTML {
    """
    <section class="card">\(heading("Age"))
    <p class="sub">\(report.agesAreDates ? "Bodies by the date they were stored" : "Bodies by age")</p>
    <svg viewBox="0 0 560 262" role="img" aria-label="Bytes of bodies by age and freshness">\
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
        \(label(name, at: x + width / 2, isExtra ? "ax alt" : "ax"))</g>

        """
    }
    return bars
  }

  /// Returns the name of a bar, with its unit on a second line, so that names of neighbors do not touch.
  private func label(_ name: ByteString, at x: Double, _ kind: String) -> HTML {
    let parts =
      report.agesAreDates ? [name.bytes[...]] : name.bytes.split(separator: 0x20, maxSplits: 1)
    var lines: HTML = ""
    for (index, part) in parts.enumerated() {
      lines += """
        <text class="\(kind)" text-anchor="middle" x="\(x)" \
        y="\(Chart.bottom + 17 + Double(index) * 15)">\(ByteString(Array(part)))</text>
        """
    }
    return lines
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
