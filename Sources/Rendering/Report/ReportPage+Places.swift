import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The size of the drawing that is shown without the script.
  private static let area = Rectangle(x: 0, y: 0, width: 1176, height: 430)
  // The approximate width of a character: SVG text cannot be shortened to fit.
  private static let columnWidth = 7.6

  /// The hosts and folders in which the bytes are.
  var places: HTML {
    """
    <section class="card" id="places">\(heading("Where the bytes are", Self.ramp))
    <svg id="tm" viewBox="0 0 1176 430" role="img" aria-label="Bytes by host and folder">\(hostBoxes)</svg>
    <p id="tip" class="tip" aria-live="polite">Areas are proportional to bytes.</p>
    \(details(words.hostTable))
    </section>
    """
  }

  private static let ramp: HTML = """
    <p id="crumb" class="crumb">All hosts</p><ul class="legend ramp"><li>stale share</li>\
    <li><i class="s0"></i>0–20%</li><li><i class="s1"></i></li><li><i class="s2"></i></li>\
    <li><i class="s3"></i></li><li><i class="s4"></i>80–100%</li></ul>
    """

  private var hostBoxes: HTML {
    var sizes = report.hosts.map(\.sum.bytes)
    if let others = report.otherHosts { sizes.append(others.bytes) }
    // The layout needs descending sizes; equal ones keep their order.
    let order = sizes.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }
    let rectangles = TreemapLayout.rectangles(of: order.map { sizes[$0] }, in: Self.area)
    var boxes: HTML = ""
    for (place, rectangle) in zip(order, rectangles) where isVisible(rectangle) {
      if place < report.hosts.count {
        boxes += box(report.hosts[place], rectangle)
      } else if let others = report.otherHosts {
        boxes += cell("other hosts", others.bytes, staleShare: nil, rectangle)
      }
    }
    return boxes
  }

  private func isVisible(_ rectangle: Rectangle) -> Bool {
    // A rectangle of less than a pixel cannot be seen.
    rectangle.width >= 1 && rectangle.height >= 1
  }

  private func box(_ host: CacheReport.Host, _ rectangle: Rectangle) -> HTML {
    let hasTitle = rectangle.height > 56 && rectangle.width > 60
    var inner = Rectangle(
      x: rectangle.x + 2, y: rectangle.y + 2, width: max(0, rectangle.width - 4),
      height: max(0, rectangle.height - 4))
    var title: HTML = ""
    if hasTitle {
      (inner.y, inner.height) = (inner.y + 20, inner.height - 20)
      let room = rectangle.width - (rectangle.width > 150 ? 84 : 14)
      title = """
        <text class="hl" x="\(rectangle.x + 7)" y="\(rectangle.y + 15)">\
        \(fitted(words.name(of: host), to: room / 7.7))</text>
        """
      if rectangle.width > 150 {
        title += """
          <text class="hs" text-anchor="end" x="\(rectangle.x + rectangle.width - 7)" \
          y="\(rectangle.y + 15)">\(ByteSizeText.text(host.sum.bytes))</text>
          """
      }
    }
    return """
      <g><rect class="hb" x="\(rectangle.x)" y="\(rectangle.y)" width="\(rectangle.width)" \
      height="\(rectangle.height)"/>\(title)\(cells(of: host, in: inner))</g>

      """
  }

  private func cells(of host: CacheReport.Host, in bounds: Rectangle) -> HTML {
    let named = host.folders.reduce(0 as ByteCount) { $0 + $1.sum.bytes }
    let rest = max(0, host.sum.bytes - named)
    let sizes = host.folders.map(\.sum.bytes) + [rest]
    let order = sizes.indices.sorted { (sizes[$1], $0) < (sizes[$0], $1) }
    var cells: HTML = ""
    for (place, rectangle) in zip(
      order, TreemapLayout.rectangles(of: order.map { sizes[$0] }, in: bounds))
    where isVisible(rectangle) {
      if place < host.folders.count {
        let folder = host.folders[place]
        let share = Self.share(folder.staleBytes, of: folder.sum.bytes)
        cells += cell(words.name(of: folder), folder.sum.bytes, staleShare: share, rectangle)
      } else {
        // Never below zero: sums that overflowed stay at the maximum, and then do not add up.
        let stale = host.folders.reduce(host.staleBytes) { max(0, $0 - $1.staleBytes) }
        cells += cell("others", rest, staleShare: Self.share(stale, of: rest), rectangle)
      }
    }
    return cells
  }

  /// - Parameter staleShare: The stale share, from 0 to 1; `nil` if it is unknown.
  private func cell(
    _ name: ByteString, _ bytes: ByteCount, staleShare: Double?, _ rectangle: Rectangle
  ) -> HTML {
    // A share of 100% belongs to the last of the five steps.
    let step = staleShare.map { "s\(min(4, Int($0 * 5)))" } ?? "s5"
    var text: HTML = ""
    if rectangle.width > 44, rectangle.height > 20 {
      text += """
        <text x="\(rectangle.x + 7)" y="\(rectangle.y + 16)">\
        \(fitted(name, to: (rectangle.width - 12) / Self.columnWidth))</text>
        """
    }
    if rectangle.width > 64, rectangle.height > 38 {
      text += """
        <text class="sm" x="\(rectangle.x + 7)" y="\(rectangle.y + 31)">\(ByteSizeText.text(bytes))</text>
        """
    }
    return """
      <g class="cell \(step)"><rect x="\(rectangle.x + 0.7)" y="\(rectangle.y + 0.7)" \
      width="\(max(0, rectangle.width - 1.5))" height="\(max(0, rectangle.height - 1.5))" \
      rx="3"/>\(text)</g>
      """
  }

  private static func share(_ part: ByteCount, of whole: ByteCount) -> Double {
    whole > 0 ? min(1, max(0, Double(part) / Double(whole))) : 0
  }

  /// Returns text that fits into a number of columns, with its middle left out if necessary; empty if almost nothing
  /// would be left.
  private func fitted(_ text: ByteString, to columns: Double) -> ByteString {
    let shown = DisplayWidth.shortened(text.bytes[...], to: Int(max(2, columns)))
    // Three letters of a name tell nobody anything. The text is in the table below, and appears
    // below the drawing when the pointer is over the block.
    return columns >= 4 ? ByteString(Array(shown)) : ByteString([])
  }
}
