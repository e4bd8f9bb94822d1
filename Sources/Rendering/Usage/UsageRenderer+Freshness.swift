import Administration
import ResponseStorage

extension UsageRenderer {
  private static let freshnessBarWidth = 30

  /// A part of the bar, with its characters.
  private struct FreshnessPart {
    let state: ResponseFreshness.State?
    let mark: String
    let asciiMark: String
  }

  private static let freshnessParts = [
    // Marks and no colors, so that the bar can be read in a log and by those who cannot tell
    // colors apart.
    FreshnessPart(state: .fresh, mark: "█", asciiMark: "#"),
    FreshnessPart(state: .stale, mark: "▒", asciiMark: "="),
    FreshnessPart(state: .noLifetime, mark: "░", asciiMark: "-"),
    FreshnessPart(state: nil, mark: "·", asciiMark: "."),
  ]

  /// Appends a bar with the shares of fresh, stale and other entries, if they were counted.
  func appendFreshness(of report: UsageReport, into buffer: inout TextBuffer) {
    let whole = report.freshness.values.reduce(Int64(0)) { $0 + $1 }
    guard whole > 0 else { return }
    buffer.append("Fresh    ")
    var legend = TextBuffer(style: buffer.style)
    var (sum, drawn) = (Int64(0), 0)
    for part in Self.freshnessParts {
      guard let count = report.freshness[part.state], count > 0 else { continue }
      let mark = buffer.style.isASCII ? part.asciiMark : part.mark
      sum += count
      // Round the running sum, not each part, so that the parts add up to the whole bar.
      let end = Int((Double(sum) / Double(whole) * Double(Self.freshnessBarWidth)).rounded())
      let emphasis = part.state?.emphasis
      buffer.append(String(repeating: mark, count: end - drawn), as: emphasis)
      drawn = end
      legend.append("  ")
      legend.append(mark, as: emphasis)
      legend.append(" \(BarText.percent(count, of: whole))% \(part.state.words)")
    }
    buffer.append(contentsOf: legend.bytes)
    buffer.append("   of the entries\n")
  }
}
