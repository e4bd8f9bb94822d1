import Administration
import Bytes
import JSON
import ResponseStorage

extension ReportPage {
  /// The data for the script: the tree of hosts, folders and entries, and the age limits.
  var data: TextBuffer {
    var data = TextBuffer()
    data.writeJSON { json in
      json.object {
        $0.member("total", report.usage.bodyBytes)
        $0.array("tree") { json in
          for host in report.hosts { write(host, to: &json) }
          if let others = report.otherHosts, others.bytes > 0 {
            let sum = CacheReport.Sum(entries: others.entries, bytes: others.bytes)
            write("other hosts", sum, nil, to: &json)
          }
        }
        $0.array("limits") { json in for limit in shownLimits { write(limit, to: &json) } }
      }
    }
    return data
  }

  /// Writes a node: its name, bytes, entries, stale bytes if known, and children.
  private func write(
    _ name: ByteString, _ sum: CacheReport.Sum, _ staleBytes: ByteCount?, to json: inout JSONWriter,
    contents: ((inout JSONWriter) -> Void)? = nil
  ) {
    json.object {
      $0.key("k")
      // Made visible here and not in the script, so that there is one place that knows which
      // characters are dangerous.
      $0.utf8OrBase64(HostileText.shown(name).bytes)
      $0.member("v", sum.bytes)
      $0.member("n", sum.entries)
      if let staleBytes { $0.member("s", staleBytes) }
      if let contents { $0.array("c", .inLine, contents) }
    }
  }

  private func write(_ host: CacheReport.Host, to json: inout JSONWriter) {
    write(words.name(of: host), host.sum, host.staleBytes, to: &json) { json in
      for folder in host.folders { write(folder, to: &json) }
      let named = host.folders.reduce(into: CacheReport.Sum()) { $0.add($1.sum) }
      let stale = host.folders.reduce(0 as ByteCount) { $0 + $1.staleBytes }
      writeRest(
        "others", of: host.sum, without: named, staleBytes: (host.staleBytes, stale), to: &json)
    }
  }

  private func write(_ folder: CacheReport.Folder, to json: inout JSONWriter) {
    write(words.name(of: folder), folder.sum, folder.staleBytes, to: &json) { json in
      for entry in folder.entries {
        write(
          words.name(of: entry, in: folder), .init(entries: 1, bytes: entry.size),
          entry.state.isStale ? entry.size : 0, to: &json)
      }
      let named = CacheReport.Sum(
        entries: Int64(folder.entries.count),
        bytes: folder.entries.reduce(0 as ByteCount) { $0 + $1.size })
      let stale = folder.entries.filter(\.state.isStale).reduce(0 as ByteCount) { $0 + $1.size }
      writeRest(
        "smaller entries", of: folder.sum, without: named, staleBytes: (folder.staleBytes, stale),
        to: &json)
    }
  }

  /// Writes everything that has no node of its own as the last node of an array; nothing if it is empty.
  ///
  /// - Parameter staleBytes: The stale bytes of the whole, and of the named nodes.
  private func writeRest(
    _ name: ByteString, of sum: CacheReport.Sum, without named: CacheReport.Sum,
    staleBytes: (all: ByteCount, named: ByteCount), to json: inout JSONWriter
  ) {
    let rest = CacheReport.Sum(
      entries: sum.entries - named.entries, bytes: max(0, sum.bytes - named.bytes))
    guard rest.bytes > 0 else { return }
    write(name, rest, max(0, staleBytes.all - staleBytes.named), to: &json)
  }

  /// Writes a limit: its position in the chart, and the texts about it.
  private func write(_ limit: CacheReport.AgeLimit, to json: inout JSONWriter) {
    json.array {
      for coordinate in [x(of: limit), y(of: limit.removed.bytes)] {
        var text = TextBuffer()
        text.append(tenthsOf: coordinate)
        $0.written(text.bytes)
      }
      $0.value(ReportWords.duration(limit.seconds))
      $0.value(ByteSizeText.text(limit.removed.bytes))
      $0.value(ReportWords.percent(limit.removed.bytes, of: report.usage.bodyBytes))
      $0.value(QuantityWords.counted(limit.removed.entries, "entry", "entries"))
      $0.value(ReportWords.grouped(limit.fresh.entries))
      $0.value(ReportWords.durationOption(limit.seconds))
    }
  }
}

extension CacheReport.Sum {
  /// Adds another sum.
  fileprivate mutating func add(_ other: Self) {
    entries += other.entries
    bytes += other.bytes
  }
}
