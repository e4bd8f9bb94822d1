import Administration
import Bytes
import JSON
import ResponseStorage

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
