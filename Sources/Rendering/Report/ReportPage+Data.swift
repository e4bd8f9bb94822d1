import Administration
import Bytes
import ResponseStorage

extension ReportPage {
  /// What the script needs: the tree of hosts, folders and entries, and the limits of age.
  var data: TextBuffer {
    var data = TextBuffer()
    data.append("{\"total\":")
    data.append(plain: report.usage.bodyBytes)
    data.append(",\"tree\":")
    append(report.hosts, to: &data) { append($0, to: &$1) }
    if let others = report.otherHosts, others.bytes > 0 {
      data.bytes.removeLast()
      data.append(report.hosts.isEmpty ? "" : ",")
      append("other hosts", .init(entries: others.entries, bytes: others.bytes), nil, to: &data)
      data.append("}]")
    }
    data.append(",\"limits\":")
    append(report.ageLimits, to: &data) { append($0, to: &$1) }
    guard report.canBeChanged else {
      data.append(",\"command\":null}")
      return data
    }
    data.append(",\"command\":[")
    // The parts before and after the limit.
    let command = words.command("purge", "--older-than ")
    data.append(json: command.bytes)
    data.append(",\" --dry-run\"]}")
    return data
  }

  private func append<Element>(
    _ elements: [Element], to data: inout TextBuffer,
    _ body: (Element, inout TextBuffer) -> Void
  ) {
    data.append("[")
    for (index, element) in elements.enumerated() {
      if index > 0 { data.append(",") }
      body(element, &data)
    }
    data.append("]")
  }

  /// Appends the beginning of a node: its name, bytes, entries, and stale bytes if they are known.
  private func append(
    _ name: ByteString, _ sum: CacheReport.Sum, _ staleBytes: ByteCount?, to data: inout TextBuffer
  ) {
    data.append("{\"k\":")
    data.append(json: HostileText.shown(name).bytes)
    data.append(",\"v\":")
    data.append(plain: sum.bytes)
    data.append(",\"n\":")
    data.append(integer: sum.entries)
    if let staleBytes {
      data.append(",\"s\":")
      data.append(plain: staleBytes)
    }
  }

  private func append(_ host: CacheReport.Host, to data: inout TextBuffer) {
    append(words.name(of: host), host.sum, host.staleBytes, to: &data)
    data.append(",\"c\":")
    append(host.folders, to: &data) { append($0, to: &$1) }
    let named = host.folders.reduce(into: CacheReport.Sum()) { $0.add($1.sum) }
    let stale = host.folders.reduce(0 as ByteCount) { $0 + $1.staleBytes }
    appendRest(
      "others", of: host.sum, without: named, staleBytes: (host.staleBytes, stale),
      isFirst: host.folders.isEmpty, to: &data)
    data.append("}")
  }

  private func append(_ folder: CacheReport.Folder, to data: inout TextBuffer) {
    append(words.name(of: folder), folder.sum, folder.staleBytes, to: &data)
    data.append(",\"c\":")
    append(folder.entries, to: &data) { entry, data in
      append(
        words.name(of: entry, in: folder), .init(entries: 1, bytes: entry.size),
        entry.state.isStale ? entry.size : 0, to: &data)
      data.append("}")
    }
    let named = CacheReport.Sum(
      entries: Int64(folder.entries.count),
      bytes: folder.entries.reduce(0 as ByteCount) { $0 + $1.size })
    let stale = folder.entries.filter(\.state.isStale).reduce(0 as ByteCount) { $0 + $1.size }
    appendRest(
      "smaller entries", of: folder.sum, without: named, staleBytes: (folder.staleBytes, stale),
      isFirst: folder.entries.isEmpty, to: &data)
    data.append("}")
  }

  /// Puts what is not named at the end of an array that was just appended.
  ///
  /// - Parameter staleBytes: The stale bytes of all, and of what is named.
  private func appendRest(
    _ name: ByteString, of sum: CacheReport.Sum, without named: CacheReport.Sum,
    staleBytes: (all: ByteCount, named: ByteCount), isFirst: Bool, to data: inout TextBuffer
  ) {
    let rest = CacheReport.Sum(
      entries: sum.entries - named.entries, bytes: max(0, sum.bytes - named.bytes))
    guard rest.bytes > 0 else { return }
    data.bytes.removeLast()
    if !isFirst { data.append(",") }
    append(name, rest, max(0, staleBytes.all - staleBytes.named), to: &data)
    data.append("}]")
  }

  /// Appends a limit: where it is in the drawing, and what there is to say about it.
  private func append(_ limit: CacheReport.AgeLimit, to data: inout TextBuffer) {
    data.append("[")
    data.append(tenthsOf: x(of: limit))
    data.append(",")
    data.append(tenthsOf: y(of: limit.removed.bytes))
    let texts = [
      ReportWords.duration(limit.seconds), ByteSizeText.text(limit.removed.bytes),
      ReportWords.percent(limit.removed.bytes, of: report.usage.bodyBytes),
      ReportWords.counted(limit.removed.entries, "entry", "entries"),
      ReportWords.grouped(limit.fresh.entries), ReportWords.durationOption(limit.seconds),
    ]
    for text in texts {
      data.append(",")
      data.append(json: text)
    }
    data.append("]")
  }
}

extension CacheReport.Sum {
  /// Adds another sum.
  fileprivate mutating func add(_ other: Self) {
    entries += other.entries
    bytes += other.bytes
  }
}
