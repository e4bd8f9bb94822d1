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
