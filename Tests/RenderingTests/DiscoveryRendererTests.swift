import Administration
import Bytes
import Rendering
import ResponseStorage
import Testing

struct DiscoveryRendererTests {
  private let now: Timestamp

  init() throws { now = try #require(Samples.now) }

  @Test func `the table has a row for each cache`() {
    var buffer = TextBuffer()
    DiscoveryRenderer(now: now).appendTable(discovery, into: &buffer)
    #expect(
      Samples.text(buffer) == """
        APP  KIND           SIZE  IN USE   PATH
        -    apple       2.0 MiB  pid 471  /a/Cache.db
        -    apple       4.0 KiB  no       /日本‹U+202E›
        -    apple             -  yes      /c
        -    foundation    700 B  -        /d

        """)
  }

  @Test func `JSON has null for unknown values`() {
    var buffer = TextBuffer()
    DiscoveryRenderer(now: now).appendJSON(discovery, into: &buffer)
    #expect(
      Samples.text(buffer) == #"""
        {"schema":"urlcache-admin.discover/1","stores":[
        {"path":"/a/Cache.db","format":"apple","schema_version":203,"entries":12345,"footprint_bytes":2097152,"newest_stored":"2025-12-20T00:00:00Z","in_use":true,"pid":471,"default_of":null,"notes":["a","b"]},
        {"path":"/日本\u202E","format":"apple","schema_version":null,"entries":0,"footprint_bytes":4096,"newest_stored":null,"in_use":false,"pid":null,"default_of":null,"notes":[]},
        {"path":"/c","format":"apple","schema_version":25,"entries":null,"footprint_bytes":null,"newest_stored":null,"in_use":true,"pid":null,"default_of":null,"notes":[]},
        {"path":"/d","format":"foundation","schema_version":null,"entries":7,"footprint_bytes":700,"newest_stored":"2026-01-01T00:00:00Z","in_use":null,"pid":null,"default_of":null,"notes":[]}
        ],"entries":12352,"footprint_bytes":2101948,"unreadable":[
        {"path":"/e\n","reason":"Permission denied"}
        ],"folders_too_deep":2}

        """#)
  }

  @Test func `the table shows the size on disk of each cache and the sum`() {
    var buffer = TextBuffer()
    let renderer = DiscoveryRenderer(now: now)
    renderer.appendUsageTable(discovery.largestFirst, into: &buffer)
    renderer.appendUsageTable(Discovery(), into: &buffer)
    #expect(
      Samples.text(buffer) == """
        ENTRIES  SIZE ON DISK                        SHARE  CACHE
         12,345       2.0 MiB  ████████████████████   100%  /a/Cache.db
              0       4.0 KiB                           0%  /日本‹U+202E›
              7         700 B                           0%  /d
              -             -                            -  /c
         12,352       2.0 MiB                               4 caches
        ENTRIES  SIZE ON DISK    SHARE  CACHE
              0           0 B           0 caches

        """)
  }

  @Test func `JSON lists the largest caches first`() throws {
    var expected = TextBuffer()
    var sorted = discovery
    sorted.stores.swapAt(2, 3)
    DiscoveryRenderer(now: now).appendJSON(sorted, into: &expected)
    var buffer = TextBuffer()
    var groups = UsageReport(footprint: Footprint())
    groups.groups = [UsageReport.Group(key: "a.example", entries: 2, bytes: 3)]
    DiscoveryRenderer(now: now).appendUsageJSON(
      discovery.largestFirst, groups, UsageRenderer(secrets: SecretPolicy(), now: now),
      into: &buffer)
    #expect(
      Samples.text(buffer)
        == Samples.text(expected).replacing(
          "urlcache-admin.discover/1", with: "urlcache-admin.usage-all/1"
        ).replacing(
          "\"folders_too_deep\":2}",
          with: "\"folders_too_deep\":2,\"groups\":[\n"
            + "{\"key\":\"a.example\",\"entries\":2,\"bytes\":3}\n],\"rest\":null}"))
  }

  @Test func `an empty result is reported in words and in JSON`() {
    var buffer = TextBuffer()
    DiscoveryRenderer(now: now).appendTable(Discovery(), into: &buffer)
    DiscoveryRenderer(now: now).appendJSON(Discovery(), into: &buffer)
    #expect(
      Samples.text(buffer) == """
        APP  KIND  SIZE  IN USE  PATH
        {"schema":"urlcache-admin.discover/1","stores":[],"entries":0,"footprint_bytes":0,"unreadable":[],"folders_too_deep":0}

        """)
  }

  private var discovery: Discovery {
    var discovery = Discovery()
    discovery.stores = [
      FoundStore(
        path: "/a/Cache.db", format: .apple, schemaVersion: 203, entries: 12_345,
        footprintBytes: ByteCount(2 << 20),
        newestStored: Timestamp(secondsSince1970: now.secondsSince1970 - 12 * 86_400),
        use: .process(471), notes: ["a", "b"]),
      FoundStore(
        path: "/日本\u{202E}", format: .apple, entries: 0, footprintBytes: 4_096, use: .none),
      FoundStore(path: "/c", format: .apple, schemaVersion: 25, use: .process(nil)),
      FoundStore(
        path: "/d", format: .foundation, entries: 7, footprintBytes: 700, newestStored: now),
    ]
    discovery.unreadable = [UnreadablePlace(path: "/e\n", reason: "Permission denied")]
    discovery.foldersTooDeep = 2
    return discovery
  }
}
