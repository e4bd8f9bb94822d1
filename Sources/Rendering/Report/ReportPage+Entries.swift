import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// The largest entries, which the script can filter and sort.
  var entries: HTML {
    let shown = ReportWords.grouped(Int64(report.largest.count))
    let total = ReportWords.grouped(report.usage.entries)
    return """
      <section class="card" id="entries">
      \(heading("Largest entries", """
        <span class="mut" id="cnt">\(shown) of \(total)\(report.largest.count > 1 ? ", largest first" : "")</span><input id="q" type="search" \
        placeholder="Filter by URL, type or status" aria-label="Filter entries" hidden>
        """))
      <div class="scroll" tabindex="0" role="region" aria-label="Largest entries"><table id="ent"><thead><tr>\
      <th>URL</th><th>Type</th><th class="num">Status</th>\
      <th class="num" aria-sort="descending">Size</th><th class="num">Age</th><th>Freshness</th>\
      <th>Body</th></tr></thead><tbody>
      \(entryRows)</tbody></table></div>\(rest)</section>
      """
  }

  /// How to see the entries that the table does not have.
  private var rest: HTML {
    let missing = report.usage.entries - Int64(report.largest.count)
    guard missing > 0 else { return "" }
    return """

      <p class="sub rest">\(QuantityWords.counted(missing, "smaller entry is", "smaller entries are")) not \
      in this table. To see all, run:</p>
      \(code(words.listCommand))
      """
  }

  private var entryRows: HTML {
    var rows: HTML = ""
    for entry in report.largest {
      let type = entry.mimeType.map { words.bounded($0, to: 40) } ?? "–"
      rows += """
        <tr><td class="url"><bdi>\(url(of: entry))</bdi></td><td class="mime"><bdi>\(type)</bdi></td>\
        \(statusCell(entry.status))<td class="num" data-v="\(entry.size.bytes)">\
        \(ByteSizeText.text(entry.size))\(bar(of: entry))</td>\(ageCell(entry.stored))\
        <td data-v="\(entry.state.rank)"><span class="pill p-\(entry.state.rawValue)">\
        \(entry.state.word)</span></td><td>\(entry.bodyLocation?.rawValue ?? "–")</td></tr>

        """
    }
    return rows
  }

  /// Returns the URL with the path emphasized. Narrow screens leave out the scheme.
  private func url(of entry: CacheReport.Entry) -> HTML {
    let (origin, path) = words.urlParts(of: entry)
    let mark = Array("://".utf8)
    var (scheme, authority) = (ByteString(""), origin)
    if let colon = origin.bytes.firstIndex(of: mark[0]), origin.bytes[colon...].starts(with: mark) {
      scheme = ByteString(Array(origin.bytes[..<(colon + mark.count)]))
      authority = ByteString(Array(origin.bytes[(colon + mark.count)...]))
    }
    // The style sheet shortens what is before the end, never the host or the end.
    let end = Self.startOfEnd(of: path.bytes)
    return """
      <span class="mut"><span class="sch">\(scheme)</span>\(authority)</span>\
      <span class="mid">\(ByteString(Array(path.bytes[..<end])))</span>\
      <span class="end">\(ByteString(Array(path.bytes[end...])))</span>
      """
  }

  /// Where the last characters of a path begin: as many as a phone has room for.
  private static func startOfEnd(of path: [UInt8]) -> Int {
    var (place, left) = (path.count, 20)
    while place > 0, left > 0 {
      place -= 1
      // A character begins with a byte that does not continue one.
      if path[place] & 0xC0 != 0x80 { left -= 1 }
    }
    return place
  }

  /// Returns a bar for the size, relative to the largest entry.
  private func bar(of entry: CacheReport.Entry) -> HTML {
    let whole = Double(max(1, report.largest.first?.size ?? 1))
    let width = 60 * min(1, max(0, Double(entry.size) / whole))
    return """
      <svg class="sb" viewBox="0 0 60 3" aria-hidden="true"><rect class="d2" x="\(60 - width)" \
      width="\(width)" height="3"/></svg>
      """
  }

  private func statusCell(_ status: Int64?) -> HTML {
    // `-1`, so that unknown values stay together when the script sorts the column by number.
    guard let status else { return "<td class=\"num\" data-v=\"-1\">–</td>" }
    let kind = status >= 400 ? "num failed" : "num"
    return "<td class=\"\(kind)\" data-v=\"\(status)\">\(status)</td>"
  }

  private func ageCell(_ stored: Timestamp?) -> HTML {
    guard let stored else { return "<td class=\"num\" data-v=\"-1\">–</td>" }
    let seconds = report.now.wholeSeconds - stored.wholeSeconds
    return """
      <td class="num" data-v="\(seconds)"><time datetime="\(TimeText.text(stored))" \
      title="\(TimeText.text(stored))">\(AgeText.text(from: stored, to: report.now))</time></td>
      """
  }
}
