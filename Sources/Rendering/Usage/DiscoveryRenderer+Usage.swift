public import Administration
import Bytes
import JSON
public import ResponseStorage

extension DiscoveryRenderer {
  private static let shareBarWidth = 20

  /// Appends a table for people: a row with the size on disk of each store, and a total.
  public func appendUsageTable(_ discovery: Discovery, into buffer: inout TextBuffer) {
    var table = TextTable([
      .init(title: "ENTRIES", alignment: .right), .init(title: "SIZE ON DISK", alignment: .right),
      .init(title: ""), .init(title: "SHARE", alignment: .right), .init(title: "CACHE"),
    ])
    let whole = discovery.footprintBytes
    for store in discovery.stores {
      let bar = BarText.text(
        part: store.footprintBytes ?? 0, of: whole, width: Self.shareBarWidth,
        asciiOnly: buffer.style.isASCII)
      table.append([
        cell(store.entries) { $0.append(grouped: $1) },
        cell(store.footprintBytes) { $0.append(byteCount: $1) }, Array(bar.utf8),
        cell(store.footprintBytes) { $0.append("\(BarText.percent($1, of: whole))%") },
        cell(store.path) { $0.append(shown: ByteString($1)) },
      ])
    }
    let count = Int64(discovery.stores.count)
    table.append([
      cell(discovery.entries) { $0.append(grouped: $1) }, cell(whole) { $0.append(byteCount: $1) },
      [], [],
      cell(count) {
        $0.append(grouped: $1)
        $0.append($1 == 1 ? " cache" : " caches")
      },
    ])
    table.append(to: &buffer)
  }

  /// Appends one JSON object, with the groups of all stores.
  public func appendUsageJSON(
    _ discovery: Discovery, _ groups: UsageReport, _ renderer: UsageRenderer,
    into buffer: inout TextBuffer
  ) {
    buffer.writeJSON(schema: "usage-all") {
      write(discovery, to: &$0)
      renderer.write(groups.groups, named: "groups", to: &$0)
      $0.member("rest", groups.rest)
    }
  }
}
