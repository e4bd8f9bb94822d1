import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The distribution of body sizes: the share of entries, and of bytes, up to each size.
  var sizes: HTML {
    """
    <section class="card">\(heading("Body sizes"))
    <p class="sub">Entries and bytes up to each size; \(words.halfSentence)</p>
    <svg viewBox="0 0 560 330" role="img" \
    aria-label="Share of entries and bytes by body size">\(percentGrid(to: Chart.lowBottom))\(sizeTicks)\
    <path class="l1" d="\(sizeLine { Double($0.entries) })"/><path class="l2" d="\(sizeLine { Double($0.bytes) })"/>\
    <path class="base" d="M\(Chart.left) \(Chart.lowBottom)H\(Chart.right)"/></svg>
    <ul class="legend"><li><i class="l1"></i>share of entries</li>\
    <li><i class="l2"></i>share of bytes</li></ul></section>
    """
  }

  /// The range of the axis, as powers of two.
  private var powers: ClosedRange<Int> {
    func power(_ size: ByteCount) -> Int { 64 - max(size, 1).bytes.leadingZeroBitCount }
    let sizes = report.sizes.map(\.largest).filter { $0 > 0 }
    let first = max(0, power(sizes.first ?? 256) - 1)
    // At least four powers, since an axis of a single one would be a division by zero.
    return first...max(first + 4, power(sizes.last ?? ByteCount(1 << 20)))
  }

  private func x(ofSize size: ByteCount) -> Double {
    // Four steps for each power, as in the groups, so no logarithm is needed.
    let size = Double(max(size, 1))
    let power = Double(size.exponent) + (size.significand - 1)
    let part = (power - Double(powers.lowerBound)) / Double(powers.count - 1)
    return Chart.left + Chart.width * min(1, max(0, part))
  }

  private func sizeLine(_ count: (CacheReport.Sum) -> Double) -> HTML {
    let whole = report.sizes.reduce(0) { $0 + count($1.sum) }
    var line: HTML = "M\(Chart.left) \(Chart.lowBottom)"
    var sum = 0.0
    for group in report.sizes {
      sum += count(group.sum)
      let part = whole > 0 ? sum / whole : 0
      line +=
        "L\(x(ofSize: group.largest)) \(Chart.lowBottom - (Chart.lowBottom - Chart.top) * part)"
    }
    return "\(line)H\(Chart.right)"
  }

  private var sizeTicks: HTML {
    let step = max(2, (powers.count + 5) / 6 / 2 * 2)
    var ticks: HTML = ""
    // The upper bound may be 63, and 1 << 63 would be negative.
    for (index, power) in stride(from: powers.lowerBound, through: powers.upperBound, by: step)
      .enumerated()
    where power < 63 {
      let x = x(ofSize: ByteCount(1 << power))
      ticks += """
        <path class="tick" d="M\(x) \(Chart.lowBottom)v4"/><text class="\(index % 2 == 1 ? "ax alt" : "ax")" \
        text-anchor="\(Chart.anchor(at: x))" x="\(x)" y="\(Chart.lowBottom + 17)">\
        \(ReportWords.roundSize(ByteCount(1 << power)))</text>
        """
    }
    return ticks
  }
}
