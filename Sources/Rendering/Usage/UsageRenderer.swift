public import Administration
public import Bytes
public import JSON
public import ResponseStorage

/// Renders the size and the contents of a cache.
public struct UsageRenderer: Sendable {
  /// Which secrets the keys of groups may contain. Keys are masked like URLs.
  public var secrets: SecretPolicy

  /// The time to which ages are measured.
  public var now: Timestamp

  /// Creates a renderer.
  public init(secrets: SecretPolicy, now: Timestamp) {
    self.secrets = secrets
    self.now = now
  }

  /// Appends a report as one JSON object.
  public func appendJSON(
    _ report: UsageReport, of store: StoreDescription, into buffer: inout TextBuffer
  ) {
    buffer.writeJSON(schema: "usage") {
      $0.member("cache", store)
      $0.member("entries", report.entries)
      $0.member("missing_bodies", report.missingBodies)
      $0.member("body_bytes", report.bodyBytes)
      $0.member("median_body_bytes", report.median?.bytes)
      $0.member("median_is_exact", report.median?.isExact)
      $0.member("oldest_stored", report.storedTimes?.lowerBound)
      $0.member("newest_stored", report.storedTimes?.upperBound)
      $0.member("footprint", report.footprint)
      $0.member("in_use_bytes", report.inUseBytes)
      $0.member("capacity_bytes", report.capacityBytes)
      $0.member("oversized_bodies", report.oversizedBodies)
      $0.member("superseded", report.superseded)
      $0.member("churn", report.churn)
      $0.key("savings")
      if let savings = report.savings { write(savings, to: &$0) } else { $0.null() }
      write(report.groups, named: "groups", to: &$0)
      $0.member("rest", report.rest)
      $0.key("histograms")
      guard let histograms = report.histograms else { return $0.null() }
      $0.object {
        write(histograms.ages, named: "ages", to: &$0)
        write(histograms.sizes, named: "sizes", to: &$0)
      }
    }
  }

  /// Writes groups as an array.
  func write(
    _ groups: [UsageReport.Group], named name: StaticString, to json: inout JSONWriter
  ) {
    json.array(name, .lines, objects: groups) {
      $0.member("key", utf8OrBase64: key(of: $1, for: .programs))
      $0.member("entries", $1.entries)
      $0.member("bytes", $1.bytes)
    }
  }

  /// Appends the groups as comma-separated values.
  public func appendCSV(_ report: UsageReport, into buffer: inout TextBuffer) {
    append(report, separator: UInt8(ascii: ","), into: &buffer) { $0.append(csv: $1) }
  }

  /// Appends the groups as tab-separated values.
  public func appendTSV(_ report: UsageReport, into buffer: inout TextBuffer) {
    append(report, separator: UInt8(ascii: "\t"), into: &buffer) { $0.append(tsv: $1) }
  }

  private func append(
    _ report: UsageReport, separator: UInt8, into buffer: inout TextBuffer,
    escape: (inout TextBuffer, [UInt8]) -> Void
  ) {
    buffer.append("key")
    buffer.append(separator)
    buffer.append("entries")
    buffer.append(separator)
    buffer.append("bytes\n")
    for group in report.groups {
      // An unknown key is an empty cell, which no known key is.
      if let key = key(of: group, for: .programs) { escape(&buffer, key.bytes) }
      buffer.append(separator)
      buffer.append(integer: group.entries)
      buffer.append(separator)
      buffer.append(plain: group.bytes)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  /// Returns the key of a group as `reader` may see it.
  func key(of group: UsageReport.Group, for reader: SecretPolicy.Reader) -> ByteString? {
    // A group can be anything that a server sent, such as a media type with a token in it.
    group.key.map { secrets.url($0, for: reader) }
  }
}

extension Footprint: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("total_bytes", totalBytes)
      $0.member("database_bytes", databaseBytes)
      $0.member("wal_bytes", walBytes)
      $0.member("shm_bytes", shmBytes)
      $0.member("body_files_bytes", bodyFilesBytes)
      $0.member("free_bytes", freeBytes)
      $0.member("orphan_files", orphanFiles)
      $0.member("orphan_bytes", orphanBytes)
      $0.member("allocated_bytes", allocatedBytes)
    }
  }
}

extension CacheReport.Sum: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("entries", entries)
      $0.member("bytes", bytes)
    }
  }
}

extension UsageReport.Rest: JSONValue {
  public func write(to json: inout JSONWriter) {
    json.object {
      $0.member("groups", groups)
      $0.member("entries", entries)
      $0.member("bytes", bytes)
    }
  }
}

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

extension UsageRenderer {
  private static let widestHost = 48

  /// Appends the savings from lifetimes and validators, as a table of hosts.
  func append(_ savings: CacheSavings, into buffer: inout TextBuffer) {
    // The heading states what is assumed: how often an app asks for what is not recorded anywhere.
    buffer.append("\nIf every entry is requested again (RFC 9111, useProtocolCachePolicy):\n\n")
    var table = TextTable(
      [.init(title: "HOST"), .init(title: "ENTRIES", alignment: .right)]
        + ["SIZE", "CACHED", "CONFIRMED", "DOWNLOADED", "UNKNOWN"].map {
          .init(title: $0, alignment: .right)
        })
    for host in savings.hosts { table.append(cells(named: name(of: host), host.sums)) }
    if let rest = savings.rest {
      let count = rest.hosts.map { "\($0) more" } ?? "more"
      // So that the rows add up to the total below them.
      table.append(cells(named: Array(count.utf8), rest.sums))
    }
    table.append(cells(named: Array("all".utf8), savings.total))
    table.append(to: &buffer)
    let words = CacheSavings.Outcome.allCases.filter { savings.total[$0].entries > 0 }.map {
      "\n\($0.title): \($0.meaning)"
    }
    buffer.append(words.joined() + (words.isEmpty ? "" : "\n"))
  }

  private func name(of host: CacheSavings.Host) -> [UInt8] {
    var text = TextBuffer()
    text.append(shown: host.name.map { secrets.url($0, for: .people) } ?? "-")
    return Array(DisplayWidth.shortened(text.bytes[...], to: Self.widestHost))
  }

  private func cells(named name: [UInt8], _ sums: CacheSavings.Sums) -> [[UInt8]] {
    var entries = TextBuffer()
    entries.append(grouped: sums.total.entries)
    let sizes =
      [sums.total.bytes] + CacheSavings.Outcome.allCases.map { sums[$0].bytes }
    return [name, entries.bytes] + sizes.map { Array(ByteSizeText.text($0).utf8) }
  }
}

extension CacheSavings.Outcome {
  /// The title of the outcome.
  var title: String {
    switch self {
    case .cached: "Cached"
    case .confirmed: "Confirmed"
    case .downloaded: "Downloaded"
    case .unknown: "Unknown"
    }
  }

  /// The effect on bodies, as a clause.
  var meaning: String {
    switch self {
    case .cached: "used without a request, mostly because it is fresh"
    case .confirmed: "not sent again if the server answers 304"
    case .downloaded: "sent again, because it is not fresh and has no validator"
    case .unknown:
      "depends on data that the cache does not contain, such as request fields named in Vary"
    }
  }
}

extension UsageRenderer {
  /// Writes the savings from lifetimes and validators.
  func write(_ savings: CacheSavings, to json: inout JSONWriter) {
    json.object {
      $0.object("total") { $0.members(of: savings.total) }
      $0.array("hosts", .lines, objects: savings.hosts) { json, host in
        json.member("host", url: host.name, secrets)
        json.members(of: host.sums)
      }
      $0.key("rest")
      guard let rest = savings.rest else { return $0.null() }
      $0.object {
        $0.member("hosts", rest.hosts)
        $0.members(of: rest.sums)
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func members(of sums: CacheSavings.Sums) {
    for outcome in CacheSavings.Outcome.allCases { member(named: outcome.rawValue, sums[outcome]) }
  }
}
