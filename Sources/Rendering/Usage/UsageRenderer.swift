public import Administration
public import Bytes
public import ResponseStorage

/// What a cache takes up, as text.
public struct UsageRenderer: Sendable {
  /// Which secrets the keys of groups may contain; they are taken for URLs.
  public var secrets: SecretPolicy

  /// The moment that ages are counted to.
  public var now: Timestamp

  /// Whether bars are drawn with ASCII only.
  public var asciiOnly: Bool

  /// Creates a renderer.
  public init(secrets: SecretPolicy, now: Timestamp, asciiOnly: Bool = false) {
    self.secrets = secrets
    self.now = now
    self.asciiOnly = asciiOnly
  }

  /// Appends a report as one JSON object.
  public func appendJSON(
    _ report: UsageReport, of store: StoreDescription, into buffer: inout TextBuffer
  ) {
    buffer.append("{\"schema\":\"urlcache-admin.usage/1\",\"cache\":")
    buffer.append(json: store)
    buffer.append(",\"entries\":")
    buffer.append(integer: report.entries)
    buffer.append(",\"missing_bodies\":")
    buffer.append(integer: report.missingBodies)
    buffer.append(",\"body_bytes\":")
    buffer.append(plain: report.bodyBytes)
    buffer.append(",\"median_body_bytes\":")
    buffer.append(json: report.median?.bytes)
    buffer.append(",\"median_is_exact\":")
    buffer.append(report.median.map { $0.isExact ? "true" : "false" } ?? "null")
    buffer.append(",\"oldest_stored\":")
    buffer.append(json: report.storedTimes?.lowerBound)
    buffer.append(",\"newest_stored\":")
    buffer.append(json: report.storedTimes?.upperBound)
    buffer.append(",\"footprint\":")
    buffer.append(json: report.footprint)
    buffer.append(",\"capacity_bytes\":")
    buffer.append(json: report.capacityBytes)
    buffer.append(",\"oversized_bodies\":")
    buffer.append(json: report.oversizedBodies)
    buffer.append(",\"superseded\":")
    buffer.append(json: report.superseded)
    buffer.append(",\"savings\":")
    buffer.append(json: report.savings, secrets: secrets)
    buffer.append(",\"groups\":")
    append(json: report.groups, into: &buffer)
    buffer.append(",\"rest\":")
    buffer.append(json: report.rest)
    buffer.append(",\"histograms\":")
    if let histograms = report.histograms {
      buffer.append("{\"ages\":")
      append(json: histograms.ages, into: &buffer)
      buffer.append(",\"sizes\":")
      append(json: histograms.sizes, into: &buffer)
      buffer.append("}}\n")
    } else {
      buffer.append("null}\n")
    }
  }

  private func append(json groups: [UsageReport.Group], into buffer: inout TextBuffer) {
    buffer.append(UInt8(ascii: "["))
    for (index, group) in groups.enumerated() {
      buffer.append(index == 0 ? "\n{\"key\":" : ",\n{\"key\":")
      buffer.append(json: key(of: group, for: .programs), orBase64Named: "key")
      buffer.append(",\"entries\":")
      buffer.append(integer: group.entries)
      buffer.append(",\"bytes\":")
      buffer.append(plain: group.bytes)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(groups.isEmpty ? "]" : "\n]")
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
      if let key = key(of: group, for: .programs) { escape(&buffer, key.bytes) }
      buffer.append(separator)
      buffer.append(integer: group.entries)
      buffer.append(separator)
      buffer.append(plain: group.bytes)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  /// The key of a group as `reader` may see it.
  func key(of group: UsageReport.Group, for reader: SecretPolicy.Reader) -> ByteString? {
    group.key.map { secrets.url($0, for: reader) }
  }
}

extension TextBuffer {
  /// Appends a footprint as a JSON object.
  mutating func append(json footprint: Footprint) {
    let members = [
      ("total_bytes", footprint.totalBytes.bytes),
      ("database_bytes", footprint.databaseBytes.bytes),
      ("wal_bytes", footprint.walBytes.bytes), ("shm_bytes", footprint.shmBytes.bytes),
      ("body_files_bytes", footprint.bodyFilesBytes.bytes),
      ("free_bytes", footprint.freeBytes.bytes),
      ("orphan_files", footprint.orphanFiles), ("orphan_bytes", footprint.orphanBytes.bytes),
      ("allocated_bytes", footprint.allocatedBytes.bytes),
    ]
    for (index, (name, value)) in members.enumerated() {
      append(index == 0 ? "{\"" : ",\"")
      append(name)
      append("\":")
      append(integer: value)
    }
    append(UInt8(ascii: "}"))
  }

  /// Appends a sum of entries as a JSON object, or `null`.
  mutating func append(json sum: CacheReport.Sum?) {
    guard let sum else { return append("null") }
    append("{\"entries\":")
    append(integer: sum.entries)
    append(",\"bytes\":")
    append(plain: sum.bytes)
    append(UInt8(ascii: "}"))
  }

  /// Appends what is in no group as a JSON object, or `null`.
  mutating func append(json rest: UsageReport.Rest?) {
    guard let rest else { return append("null") }
    append("{\"groups\":")
    append(json: rest.groups)
    append(",\"entries\":")
    append(integer: rest.entries)
    append(",\"bytes\":")
    append(plain: rest.bytes)
    append(UInt8(ascii: "}"))
  }
}
