import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The effect of an age limit, initially for the default limit of the slider.
  var limits: HTML {
    let limit = standardLimit
    let removed = ReportWords.percent(limit.removed.bytes, of: report.usage.bodyBytes)
    return """
      <section class="card" id="limits">\(heading("What an age limit would free"))
      <p class="sub">Bytes that each age limit frees; the part that is still fresh is green</p>
      <svg viewBox="0 0 560 246" role="img" aria-label="Bytes that an age limit would free">\
      \(limitGrid)<path class="wa" d="\(limitArea(\.removed))"/>\
      <path class="wf" d="\(limitArea(\.fresh))"/><path class="wl" d="\(limitLine(\.removed))"/>\
      <path id="wi-l" class="cur" d="M\(x(of: limit)) \(Chart.top)V\(Chart.bottom)"/>\
      <circle id="wi-c" class="dot" cx="\(x(of: limit))" cy="\(y(of: limit.removed.bytes))" r="5"/>\
      <path class="base" d="M\(Chart.left) \(Chart.bottom)H\(Chart.right)"/></svg>
      <label class="rng"><span class="vh">Age limit</span><input id="wi-r" type="range" min="0" \
      max="\(Int64(max(0, shownLimits.count - 1)))" value="\(standardPlace)" hidden></label>
      <p class="wiout" id="wi-o" aria-live="polite">Older than \
      <b>\(ReportWords.duration(limit.seconds))</b>: frees \
      <b>\(ByteSizeText.text(limit.removed.bytes))</b> (\(removed)) in \
      \(QuantityWords.counted(limit.removed.entries, "entry", "entries")), \
      \(ReportWords.grouped(limit.fresh.entries)) of them still fresh.</p>
      \(limitCommand(limit))</section>
      """
  }

  /// Returns the command for a limit; empty if no command can change the cache.
  private func limitCommand(_ limit: CacheReport.AgeLimit) -> HTML {
    // A command that would only fail should not be offered.
    guard report.canBeChanged else { return "" }
    return code(
      words.purgeCommand(olderThan: limit.seconds),
      replacing: "--older-than \(ReportWords.durationOption(limit.seconds))")
  }

  /// The limits that make a difference in this cache, and some around them: lower ones remove the same entries, and
  /// higher ones remove none.
  var shownLimits: ArraySlice<CacheReport.AgeLimit> {
    let limits = report.ageLimits
    let all = limits.first?.removed.entries ?? 0
    let lowest = limits.lastIndex { $0.removed.entries == all } ?? 0
    let highest = limits.firstIndex { $0.removed.entries == 0 } ?? limits.endIndex
    // A single step needs limits on both sides to be seen.
    let margin = max(2, (12 - (highest - lowest)) / 2)
    return limits[max(0, lowest - margin)..<min(limits.endIndex, max(lowest, highest) + margin)]
  }

  /// The place among the shown limits of the limit that is shown first: 30 days, or else the middle.
  private var standardPlace: Int64 {
    // The same limit in most reports, so that two of them can be compared at a glance.
    let limits = Array(shownLimits)
    return Int64(limits.firstIndex { $0.seconds == 30 * 86_400 } ?? limits.count / 2)
  }

  private var standardLimit: CacheReport.AgeLimit {
    let limits = Array(shownLimits)
    let place = Int(standardPlace)
    return place < limits.count ? limits[place] : .init(seconds: 30 * 86_400)
  }

  /// Returns the position of a limit. Limits are evenly spaced, so that both hours and years have room.
  func x(of limit: CacheReport.AgeLimit) -> Double {
    let limits = Array(shownLimits)
    let place = limits.firstIndex { $0.seconds == limit.seconds } ?? 0
    return Chart.left + Chart.width * Double(place) / Double(max(1, limits.count - 1))
  }

  /// Returns the position of a number of bytes, relative to all bodies.
  func y(of bytes: ByteCount) -> Double {
    let whole = Double(max(1, report.usage.bodyBytes))
    // Sizes that a damaged database claims may add up to more than their sum, and must not lead out
    // of the drawing.
    return Chart.bottom - Chart.height * min(1, Double(bytes) / whole)
  }

  private func limitLine(_ sum: KeyPath<CacheReport.AgeLimit, CacheReport.Sum>) -> HTML {
    var line: HTML = ""
    for (index, limit) in shownLimits.enumerated() {
      line += index == 0 ? "M" : "L"
      line += "\(x(of: limit)) \(y(of: limit[keyPath: sum].bytes))"
    }
    return line
  }

  private func limitArea(_ sum: KeyPath<CacheReport.AgeLimit, CacheReport.Sum>) -> HTML {
    guard !shownLimits.isEmpty else { return "" }
    return "\(limitLine(sum))V\(Chart.bottom)H\(Chart.left)Z"
  }

  private var limitGrid: HTML {
    var lines: HTML = percentGrid(to: Chart.bottom)
    let named: KeyValuePairs<Int64, String> = [
      1: "1 h", 6: "6 h", 24: "1 d", 168: "1 w", 336: "2 w", 720: "30 d", 2_160: "90 d",
      4_320: "180 d", 8_760: "1 y", 17_520: "2 y", 43_800: "5 y", 87_600: "10 y", 175_200: "20 y",
      438_000: "50 y",
    ]
    let shown = shownLimits
    let marks = named.compactMap { hours, name in
      shown.first { $0.seconds == hours * 3_600 }.map { (x(of: $0), name) }
    }
    lines += Chart.ticks(marks, below: Chart.bottom)
    return lines
  }

  /// Returns grid lines at each quarter.
  func percentGrid(to bottom: Double) -> HTML {
    var lines: HTML = ""
    for quarter in 0...4 {
      let y = bottom - (bottom - Chart.top) * Double(quarter) / 4
      lines += """
        <path class="grid" d="M\(Chart.left) \(y)H\(Chart.right)"/>\
        <text class="ax" text-anchor="end" x="\(Chart.left - 7)" y="\(y + 3.5)">\
        \(Int64(quarter * 25))\(quarter == 4 ? "%" : "")</text>
        """
    }
    return lines
  }
}
