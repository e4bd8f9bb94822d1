public import Administration
import Bytes
public import ResponseStorage

extension UsageRenderer {
  private static let capacityBarWidth = 30
  private static let shareBarWidth = 20
  private static let widestKey = 60

  /// Appends a report for people.
  public func appendText(
    _ report: UsageReport, of store: StoreDescription, into buffer: inout TextBuffer
  ) {
    appendCache(store, report.footprint, into: &buffer)
    appendUse(of: report, into: &buffer)
    appendEntries(of: report, into: &buffer)
    appendFreshness(of: report, into: &buffer)
    if !report.groups.isEmpty || report.rest != nil {
      buffer.append(UInt8(ascii: "\n"))
      appendGroups(of: report, into: &buffer)
    }
    if let histograms = report.histograms {
      // If the report is grouped by ranges, the groups are one of the histograms already.
      if report.grouping != .age {
        append(histograms.ages, titled: "age", of: report, into: &buffer)
      }
      if report.grouping != .size {
        append(histograms.sizes, titled: "size", of: report, into: &buffer)
      }
    }
    if let savings = report.savings { append(savings, into: &buffer) }
    appendFindings(of: report, into: &buffer)
  }

  /// Appends only the groups, for people; nothing if there are none.
  public func appendGroupTable(_ report: UsageReport, into buffer: inout TextBuffer) {
    guard !report.groups.isEmpty || report.rest != nil else { return }
    buffer.append(UInt8(ascii: "\n"))
    appendGroups(of: report, into: &buffer)
  }

  private func appendCache(
    _ store: StoreDescription, _ footprint: Footprint, into buffer: inout TextBuffer
  ) {
    buffer.append("Cache    ")
    buffer.append(shown: ByteString(store.path))
    buffer.append("   (")
    buffer.append(store.shownFormat)
    if footprint.walBytes > 0 {
      buffer.append(", WAL \(ByteSizeText.text(footprint.walBytes))")
    }
    buffer.append(")\n")
  }

  private func appendUse(of report: UsageReport, into buffer: inout TextBuffer) {
    let used = report.footprint.totalBytes
    buffer.append("On disk  \(ByteSizeText.text(used))")
    if let capacity = report.capacityBytes {
      let (width, isASCII) = (Self.capacityBarWidth, buffer.style.isASCII)
      buffer.append(" of \(ByteSizeText.text(capacity))   ")
      buffer.append("\(BarText.percent(used, of: capacity))%   ")
      buffer.append(
        BarText.text(part: used, of: capacity, width: width, asciiOnly: isASCII))
      let drawn = BarText.columns(part: used, of: capacity, width: width, asciiOnly: isASCII)
      // Without `max`, a range with a negative length would trap.
      for _ in drawn..<max(width, drawn) { buffer.append(isASCII ? "." : "·") }
      // The end of the bar is the capacity, which an overfull cache exceeds.
      buffer.append(isASCII ? "|" : "│")
    }
    if let percent = report.allowedPercent {
      // Larger numbers would trap in the conversion.
      let isWhole = percent == percent.rounded() && percent < 1e15
      buffer.append("  limit \(isWhole ? "\(Int64(percent))" : "\(percent)")%")
    }
    buffer.append(UInt8(ascii: "\n"))
    if let inUse = report.inUseBytes {
      buffer.append("In use   \(ByteSizeText.text(inUse)), as '--max-size' counts it\n")
    }
  }

  private func appendEntries(of report: UsageReport, into buffer: inout TextBuffer) {
    buffer.append("Entries  ")
    buffer.append(grouped: report.entries)
    // The number of ranges is always the same and says nothing.
    if let grouping = report.grouping, !grouping.hasRanges {
      let isKnown = report.rest.map { $0.groups != nil } ?? true
      let count = Int64(report.groups.count) + (report.rest?.groups ?? 0)
      // Beyond a memory limit, groups are not told apart any more, and their number is only a lower
      // bound.
      buffer.append(isKnown ? " in " : " in more than ")
      buffer.append(grouped: count)
      buffer.append(" ")
      buffer.append(count == 1 ? grouping.singular : grouping.plural)
    }
    if let times = report.storedTimes {
      buffer.append(", oldest \(AgeText.text(from: times.lowerBound, to: now))")
      buffer.append(", newest \(AgeText.text(from: times.upperBound, to: now))")
    }
    if let median = report.median {
      // Beyond a memory limit, the median is estimated from groups of sizes, and must not look
      // exact.
      buffer.append(median.isExact ? ", median " : ", median about ")
      buffer.append(byteCount: median.bytes)
    }
    buffer.append("\nBodies   \(ByteSizeText.text(report.bodyBytes))\n")
    if let churn = report.churn, churn.removed > 0 {
      buffer.append("Churn    \(churn.words)\n")
    }
    if let sum = report.superseded {
      buffer.append(
        "Old      \(ByteSizeText.text(sum.bytes)) in "
          + QuantityWords.counted(sum.entries, "superseded entry", "superseded entries") + "\n")
    }
    if report.footprint.freeBytes > 0 {
      buffer.append(
        "Free     \(ByteSizeText.text(report.footprint.freeBytes)) in the database\n")
    }
  }

  private func appendGroups(of report: UsageReport, into buffer: inout TextBuffer) {
    var rows = rows(of: report.groups[...], in: report.grouping)
    if let rest = report.rest {
      let count = rest.groups.map { "\($0) more" } ?? "more"
      rows.append(Row(key: Array(count.utf8)[...], entries: rest.entries, bytes: rest.bytes))
    }
    append(rows, titled: report.grouping?.rawValue ?? "group", of: report, into: &buffer)
  }

  /// Appends a histogram without empty ranges at either end.
  private func append(
    _ groups: [UsageReport.Group], titled title: String, of report: UsageReport,
    into buffer: inout TextBuffer
  ) {
    let ranges = groups.filter { $0.key != nil }
    let first = ranges.firstIndex { $0.entries > 0 } ?? ranges.endIndex
    let end = ranges.lastIndex { $0.entries > 0 }.map { $0 + 1 } ?? ranges.endIndex
    let shown = ranges[first..<end] + groups.filter { $0.key == nil }
    guard !shown.isEmpty else { return }
    buffer.append(UInt8(ascii: "\n"))
    append(rows(of: shown), titled: title, of: report, into: &buffer)
  }

  private func rows(
    of groups: ArraySlice<UsageReport.Group>, in grouping: UsageReport.Grouping? = nil
  ) -> [Row] {
    groups.map { group in
      Row(
        key: shown(name(of: group, in: grouping)), entries: group.entries, bytes: group.bytes)
    }
  }

  /// Returns the name of a group for people.
  private func name(
    of group: UsageReport.Group, in grouping: UsageReport.Grouping?
  ) -> ByteString {
    guard grouping == .freshness else { return key(of: group, for: .people) ?? "-" }
    let state = group.key?.string.flatMap { ResponseFreshness.State(rawValue: $0) }
    return ByteString(state.words)
  }

  private func append(
    _ rows: [Row], titled title: String, of report: UsageReport, into buffer: inout TextBuffer
  ) {
    let title = title.utf8.map { $0 >= 97 ? $0 & ~0x20 : $0 }
    let keyWidth = rows.reduce(title.count) { max($0, DisplayWidth.width(of: $1.key)) }
    buffer.append(as: .heading) { buffer in
      buffer.append(contentsOf: title)
      buffer.append(UInt8(ascii: " "), count: keyWidth - title.count)
      buffer.append("    ENTRIES       SIZE  ")
      buffer.append(UInt8(ascii: " "), count: Self.shareBarWidth + 1)
      buffer.append("SHARE")
    }
    buffer.append("\n")
    for row in rows { append(row, of: report.bodyBytes, keyWidth: keyWidth, into: &buffer) }
  }

  /// A row in the table of groups.
  private struct Row {
    let key: ArraySlice<UInt8>
    let entries: Int64
    let bytes: ByteCount
  }

  private func append(
    _ row: Row, of whole: ByteCount, keyWidth: Int, into buffer: inout TextBuffer
  ) {
    buffer.append(contentsOf: row.key)
    buffer.append(UInt8(ascii: " "), count: keyWidth - DisplayWidth.width(of: row.key))
    var entries = TextBuffer()
    entries.append(grouped: row.entries)
    buffer.append(UInt8(ascii: " "), count: 11 - entries.bytes.count)
    buffer.append(contentsOf: entries.bytes)
    let size = ByteSizeText.text(row.bytes)
    buffer.append(UInt8(ascii: " "), count: 11 - size.utf8.count)
    buffer.append(size)
    buffer.append("  ")
    let (width, isASCII) = (Self.shareBarWidth, buffer.style.isASCII)
    buffer.append(BarText.text(part: row.bytes, of: whole, width: width, asciiOnly: isASCII))
    let drawn = BarText.columns(part: row.bytes, of: whole, width: width, asciiOnly: isASCII)
    let percent = "\(BarText.percent(row.bytes, of: whole))%"
    buffer.append(UInt8(ascii: " "), count: width - drawn + 6 - percent.utf8.count)
    buffer.append(percent)
    buffer.append(UInt8(ascii: "\n"))
  }

  private func shown(_ key: ByteString) -> ArraySlice<UInt8> {
    var text = TextBuffer()
    text.append(shown: key)
    return DisplayWidth.shortened(text.bytes[...], to: Self.widestKey)
  }

  /// Appends the findings, if there are any.
  private func appendFindings(of report: UsageReport, into buffer: inout TextBuffer) {
    var findings: [String] = []
    let orphans = report.footprint.orphanFiles
    // Only what needs attention, with its number: a line of zeros would hide the day on which one
    // is not zero.
    if orphans > 0 {
      let size = ByteSizeText.text(report.footprint.orphanBytes)
      findings.append("\(QuantityWords.counted(orphans, "orphan", "orphans")) (\(size))")
    }
    if report.missingBodies > 0 {
      findings.append(QuantityWords.counted(report.missingBodies, "missing body", "missing bodies"))
    }
    guard !findings.isEmpty else { return }
    buffer.append("\n\(QuantityWords.counted(findings.count, "finding", "findings")): ")
    buffer.append(findings.joined(separator: ", "))
    buffer.append(".\n")
  }
}

extension UsageReport.Grouping {
  /// The plural noun for the groups.
  fileprivate var plural: String {
    switch self {
    case .host: "hosts"
    case .mime: "media types"
    case .status: "statuses"
    case .method: "methods"
    case .scheme: "schemes"
    case .partition: "partitions"
    case .storagePolicy: "storage policies"
    case .freshness, .validator: "groups"
    case .directive: "directives"
    case .entryClass: "classes"
    case .age, .size: "ranges"
    }
  }

  /// The singular noun for a group.
  fileprivate var singular: String {
    switch self {
    case .host: "host"
    case .mime: "media type"
    case .status: "status"
    case .method: "method"
    case .scheme: "scheme"
    case .partition: "partition"
    case .storagePolicy: "storage policy"
    case .freshness, .validator: "group"
    case .directive: "directive"
    case .entryClass: "class"
    case .age, .size: "range"
    }
  }
}

extension StoreDescription {
  /// The kind of cache and its version, for people.
  var shownFormat: String {
    let words = traits.words ?? format.rawValue
    guard let version = schemaVersion else { return words }
    // An archive has the schema of the cache that it was made from.
    return traits.hasDatabase || !traits.isCache
      ? "schema \(version)" : "\(words), version \(version)"
  }
}
