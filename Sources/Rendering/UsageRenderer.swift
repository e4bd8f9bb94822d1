import ResponseStorage

/// What a store holds and what it takes up, as text.
public struct UsageRenderer: Sendable {
  /// Whether bars are drawn with ASCII only.
  public var asciiOnly: Bool

  private static let capacityBarWidth = 30
  private static let shareBarWidth = 20
  private static let widestKey = 60

  /// Creates a renderer.
  public init(asciiOnly: Bool = false) {
    self.asciiOnly = asciiOnly
  }

  /// Appends the figures for people.
  public func appendText(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    appendSummary(figures, into: &buffer)
    if !figures.groups.isEmpty {
      buffer.append(UInt8(ascii: "\n"))
      appendGroups(figures, into: &buffer)
    }
  }

  /// Appends the figures as one JSON object.
  public func appendJSON(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    buffer.append("{\"schema\":\"urlcache-admin.usage/1\",\"cache\":")
    buffer.append(json: figures.store)
    buffer.append(",\"entries\":")
    buffer.append(integer: figures.entries)
    buffer.append(",\"body_bytes\":")
    buffer.append(integer: figures.bodyBytes)
    buffer.append(",\"footprint\":")
    buffer.append(json: figures.footprint)
    buffer.append(",\"capacity_bytes\":")
    buffer.append(json: figures.capacityBytes)
    buffer.append(",\"groups\":[")
    for (index, group) in figures.groups.enumerated() {
      buffer.append(index == 0 ? "\n{\"key\":" : ",\n{\"key\":")
      buffer.append(json: group.key, orBase64Named: "key")
      buffer.append(",\"entries\":")
      buffer.append(integer: group.entries)
      buffer.append(",\"bytes\":")
      buffer.append(integer: group.bytes)
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(figures.groups.isEmpty ? "]}\n" : "\n]}\n")
  }

  /// Appends the groups as comma-separated values.
  public func appendCSV(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    append(figures, separator: UInt8(ascii: ","), into: &buffer) { $0.append(csv: $1) }
  }

  /// Appends the groups as tab-separated values.
  public func appendTSV(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    append(figures, separator: UInt8(ascii: "\t"), into: &buffer) {
      $0.append(shown: $1, alsoEscaping: UInt8(ascii: "\\"))
    }
  }

  private func append(
    _ figures: UsageFigures, separator: UInt8, into buffer: inout TextBuffer,
    escape: (inout TextBuffer, [UInt8]) -> Void
  ) {
    buffer.append("key")
    buffer.append(separator)
    buffer.append("entries")
    buffer.append(separator)
    buffer.append("bytes\n")
    for group in figures.groups {
      if let key = group.key { escape(&buffer, key.bytes) }
      buffer.append(separator)
      buffer.append(integer: group.entries)
      buffer.append(separator)
      buffer.append(integer: group.bytes)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  private func appendSummary(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    let footprint = figures.footprint
    buffer.append("Cache    ")
    buffer.append(shown: ByteString(figures.store.path))
    buffer.append("   (")
    if let version = figures.store.schemaVersion {
      buffer.append("schema \(version)")
    } else {
      buffer.append("\(figures.store.format.rawValue) store")
    }
    if footprint.walBytes > 0 {
      buffer.append(", WAL \(ByteSizeText.text(footprint.walBytes))")
    }
    buffer.append(")\nUsed     ")
    let used = footprint.totalBytes
    buffer.append(ByteSizeText.text(used))
    if let capacity = figures.capacityBytes {
      let width = Self.capacityBarWidth
      buffer.append(" of \(ByteSizeText.text(capacity))   ")
      buffer.append("\(BarText.percent(used, of: capacity)) %   ")
      buffer.append(
        BarText.text(part: used, of: capacity, width: width, asciiOnly: asciiOnly))
      let drawn = BarText.columns(part: used, of: capacity, width: width, asciiOnly: asciiOnly)
      for _ in drawn..<max(width, drawn) { buffer.append(asciiOnly ? "." : "·") }
      buffer.append(asciiOnly ? "|" : "│")
    }
    buffer.append("\nEntries  ")
    buffer.append(grouped: figures.entries)
    if !figures.groups.isEmpty, let title = figures.groupTitle {
      buffer.append(" in ")
      buffer.append(grouped: Int64(figures.groups.count))
      buffer.append(figures.groups.count == 1 ? " \(title)" : " \(title)s")
    }
    buffer.append(", bodies \(ByteSizeText.text(figures.bodyBytes))\n")
    if footprint.orphanFiles > 0 {
      buffer.append("Orphans  ")
      buffer.append(grouped: footprint.orphanFiles)
      buffer.append(footprint.orphanFiles == 1 ? " file" : " files")
      buffer.append(" (\(ByteSizeText.text(footprint.orphanBytes)))\n")
    }
    if footprint.freeBytes > 0 {
      buffer.append("Free     \(ByteSizeText.text(footprint.freeBytes)) inside the database\n")
    }
  }

  private func appendGroups(_ figures: UsageFigures, into buffer: inout TextBuffer) {
    let whole = figures.bodyBytes
    let keys = figures.groups.map { group in
      var text = TextBuffer()
      text.append(shown: group.key ?? "-")
      return DisplayWidth.shortened(text.bytes[...], to: Self.widestKey)
    }
    let title = ByteString((figures.groupTitle ?? "group").utf8.map { $0 >= 97 ? $0 & ~0x20 : $0 })
    let keyWidth = keys.reduce(title.bytes.count) { max($0, DisplayWidth.width(of: $1)) }
    buffer.append(title)
    buffer.append(UInt8(ascii: " "), count: keyWidth - title.bytes.count)
    buffer.append("    ENTRIES       SIZE  ")
    buffer.append(UInt8(ascii: " "), count: Self.shareBarWidth + 1)
    buffer.append("SHARE\n")
    for (group, key) in zip(figures.groups, keys) {
      buffer.append(contentsOf: key)
      buffer.append(UInt8(ascii: " "), count: keyWidth - DisplayWidth.width(of: key))
      var entries = TextBuffer()
      entries.append(grouped: group.entries)
      buffer.append(UInt8(ascii: " "), count: 11 - entries.bytes.count)
      buffer.append(contentsOf: entries.bytes)
      let size = ByteSizeText.text(group.bytes)
      buffer.append(UInt8(ascii: " "), count: 11 - size.utf8.count)
      buffer.append(size)
      buffer.append("  ")
      let width = Self.shareBarWidth
      buffer.append(
        BarText.text(part: group.bytes, of: whole, width: width, asciiOnly: asciiOnly))
      let drawn = BarText.columns(
        part: group.bytes, of: whole, width: width, asciiOnly: asciiOnly)
      let percent = "\(BarText.percent(group.bytes, of: whole)) %"
      buffer.append(UInt8(ascii: " "), count: width - drawn + 6 - percent.utf8.count)
      buffer.append(percent)
      buffer.append(UInt8(ascii: "\n"))
    }
  }
}

extension TextBuffer {
  /// Appends a footprint as a JSON object.
  mutating func append(json footprint: Footprint) {
    let members = [
      ("total_bytes", footprint.totalBytes), ("database_bytes", footprint.databaseBytes),
      ("wal_bytes", footprint.walBytes), ("shm_bytes", footprint.shmBytes),
      ("body_files_bytes", footprint.bodyFilesBytes), ("free_bytes", footprint.freeBytes),
      ("orphan_files", footprint.orphanFiles), ("orphan_bytes", footprint.orphanBytes),
      ("allocated_bytes", footprint.allocatedBytes),
    ]
    for (index, (name, value)) in members.enumerated() {
      append(index == 0 ? "{\"" : ",\"")
      append(name)
      append("\":")
      append(integer: value)
    }
    append(UInt8(ascii: "}"))
  }
}
