import Administration
import Bytes
import Foundation
import Rendering
import ResponseStorage
import Testing

struct UsageRendererTests {
  private let now: Timestamp
  private let report: UsageReport

  init() throws {
    now = try #require(Samples.now)
    var footprint = Footprint()
    footprint.databaseBytes = ByteCount(400 << 20)
    footprint.walBytes = ByteCount(2 << 20)
    footprint.orphanFiles = 37
    footprint.orphanBytes = ByteCount(9 << 20)
    var report = UsageReport(footprint: footprint)
    report.entries = 4304
    report.missingBodies = 3
    report.bodyBytes = ByteCount(400 << 20)
    report.median = .init(bytes: 34_900, isExact: true)
    let oldest = try #require(Timestamp(secondsSince1970: now.secondsSince1970 - 270 * 86_400))
    report.storedTimes = oldest...now
    report.capacityBytes = ByteCount(512 << 20)
    report.oversizedBodies = 2
    report.allowedPercent = 90
    report.grouping = .host
    report.groups = [
      .init(key: "cdn.shop.example", entries: 1290, bytes: ByteCount(235 << 20)),
      .init(key: "\u{1B}", entries: 3, bytes: ByteCount(17 << 20)),
      .init(key: nil, entries: 1, bytes: 0),
    ]
    report.rest = .init(groups: 5, entries: 3010, bytes: ByteCount(148 << 20))
    self.report = report
  }

  @Test func `the table shows bars, omitted groups and findings`() {
    #expect(
      text(report) == """
        Cache    /tmp/Cache.db   (schema 202, WAL 2.0 MiB)
        On disk  402 MiB of 512 MiB   79%   ███████████████████████▌······│  limit 90%
        Entries  4,304 in 8 hosts, oldest 9mo, newest 0s, median 34.1 KiB
        Bodies   400 MiB

        HOST                ENTRIES       SIZE                       SHARE
        cdn.shop.example      1,290    235 MiB  ███████████▊           59%
        ‹U+001B›                  3   17.0 MiB  ▉                       4%
        -                         1        0 B                          0%
        5 more                3,010    148 MiB  ███████▍               37%

        2 findings: 37 orphans (9.0 MiB), 3 missing bodies.

        """)
  }

  @Test func `a line shows how many entries were stored, and how long they last`() {
    func line(_ churn: CacheChurn?) -> String? {
      var report = report
      report.churn = churn
      return text(report).split(separator: "\n").first { $0.utf8.starts(with: "Churn".utf8) }
        .map { String($0) }
    }
    func rate(_ entries: Double, _ bytes: Int64, _ lifetime: Int64?) -> CacheChurn.Rate {
      .init(
        times: now...now, entriesPerDay: entries, bytesPerDay: ByteCount(bytes),
        lifetimeSeconds: lifetime)
    }
    #expect(
      line(.init(stored: 12_400, kept: 2_000, rate: rate(221.6, 3 << 20, 9 * 86_400)))
        == "Churn    12,400 stored, 2,000 kept; about 222 a day (3.0 MiB), an entry lasts"
        + " about 9 days")
    #expect(
      line(.init(stored: 30, kept: 4, rate: rate(1.26, 10, 5_000)))
        == "Churn    30 stored, 4 kept; about 1.3 a day (10 B), an entry lasts about 1 hour")
    #expect(
      line(.init(stored: 30, kept: 4, rate: rate(0.01, 0, nil)))
        == "Churn    30 stored, 4 kept; less than 0.1 a day (0 B)")
    #expect(line(.init(stored: 30, kept: 0)) == "Churn    30 stored, none kept; rate unknown")
    #expect(
      line(.init(stored: .max, kept: 1, rate: rate(.infinity, .max, .max)))?.utf8.count ?? 0 < 150)
    // Without removed entries, the line would repeat the number of entries.
    #expect(line(.init(stored: 30, kept: 30)) == nil)
    #expect(line(nil) == nil)
  }

  @Test func `a bar shows how many entries are fresh`() {
    var report = report
    report.grouping = .freshness
    report.freshness = [.fresh: 1_000, .stale: 2_000, .noLifetime: 1, nil: 999]
    let lines = text(report).split(separator: "\n")
    #expect(
      lines[4] == "Fresh    ████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒·······"
        + "  █ 25% fresh  ▒ 50% stale  ░ 0% no lifetime  · 25% unknown   of the entries")
    report.freshness = [:]
    #expect(!text(report).contains("Fresh"))
  }

  @Test func `unknown and approximate values are marked`() {
    var report = report
    report.median?.isExact = false
    report.storedTimes = nil
    report.capacityBytes = nil
    report.allowedPercent = nil
    report.groups = []
    report.rest?.groups = nil
    report.grouping = .status
    report.missingBodies = 0
    report.footprint.orphanFiles = 1
    #expect(
      text(report) == """
        Cache    /tmp/Cache.db   (schema 202, WAL 2.0 MiB)
        On disk  402 MiB
        Entries  4,304 in more than 0 statuses, median about 34.1 KiB
        Bodies   400 MiB

        STATUS    ENTRIES       SIZE                       SHARE
        more        3,010    148 MiB  ███████▍               37%

        1 finding: 1 orphan (9.0 MiB).

        """)
  }

  @Test func `an empty report has no groups and no findings`() {
    #expect(
      text(UsageReport(footprint: Footprint())) == """
        Cache    /tmp/Cache.db   (schema 202)
        On disk  0 B
        Entries  0
        Bodies   0 B

        """)
  }

  @Test(arguments: [(90.0, "90%"), (92.5, "92.5%"), (1e300, "1e+300%"), (0, "0%")])
  func `a limit is printed as given`(_ percent: Double, _ expected: String) {
    var report = UsageReport(footprint: Footprint())
    report.allowedPercent = percent
    #expect(text(report).contains("\nOn disk  0 B  limit \(expected)\n"))
  }

  @Test func `bars can be drawn in ASCII`() {
    var buffer = TextBuffer(style: TextStyle(isASCII: true))
    UsageRenderer(secrets: SecretPolicy(), now: now)
      .appendText(report, of: Samples.store, into: &buffer)
    #expect(buffer.bytes.filter { $0 >= 0x80 } == Array("‹›".utf8))
  }

  @Test func `JSON has numbers`() throws {
    #expect(
      json(report) == #"""
        {"schema":"urlcache-admin.usage/1","cache":{"path":"/tmp/Cache.db","format":"apple","schema_version":202},"entries":4304,"missing_bodies":3,"body_bytes":419430400,"median_body_bytes":34900,"median_is_exact":true,"oldest_stored":"2025-04-06T00:00:00Z","newest_stored":"2026-01-01T00:00:00Z","footprint":{"total_bytes":421527552,"database_bytes":419430400,"wal_bytes":2097152,"shm_bytes":0,"body_files_bytes":0,"free_bytes":0,"orphan_files":37,"orphan_bytes":9437184,"allocated_bytes":0},"in_use_bytes":null,"capacity_bytes":536870912,"oversized_bodies":2,"superseded":null,"churn":null,"savings":null,"groups":[
        {"key":"cdn.shop.example","entries":1290,"bytes":246415360},
        {"key":"\u001B","entries":3,"bytes":17825792},
        {"key":null,"entries":1,"bytes":0}
        ],"rest":{"groups":5,"entries":3010,"bytes":155189248},"histograms":null}

        """#)
    var csv = TextBuffer()
    UsageRenderer(secrets: SecretPolicy(), now: now).appendCSV(report, into: &csv)
    #expect(
      Samples.text(csv)
        == "key,entries,bytes\ncdn.shop.example,1290,246415360\n‹U+001B›,3,17825792\n,1,0\n")
    var report = report
    report.groups = [.init(key: "=1+1", entries: 1, bytes: 2)]
    var values = TextBuffer()
    UsageRenderer(secrets: SecretPolicy(), now: now).appendTSV(report, into: &values)
    #expect(Samples.text(values) == "key\tentries\tbytes\n'=1+1\t1\t2\n")
  }

  @Test func `histograms are trimmed in tables and complete in JSON`() {
    var report = UsageReport(footprint: Footprint())
    report.bodyBytes = 400
    report.histograms = .init(
      ages: [
        .init(key: "under 1 h"), .init(key: "1-6 h", entries: 2, bytes: 300),
        .init(key: "6-24 h"), .init(key: "1-3 d", entries: 1_000, bytes: 100),
        .init(key: "3-7 d"), .init(key: nil, entries: 1, bytes: 1),
      ],
      sizes: [.init(key: "0 B"), .init(key: nil, entries: 1, bytes: 0)])
    #expect(
      text(report) == """
        Cache    /tmp/Cache.db   (schema 202)
        On disk  0 B
        Entries  0
        Bodies   400 B

        AGE       ENTRIES       SIZE                       SHARE
        1-6 h           2      300 B  ███████████████        75%
        6-24 h          0        0 B                          0%
        1-3 d       1,000      100 B  █████                  25%
        -               1        1 B                          0%

        SIZE    ENTRIES       SIZE                       SHARE
        -             1        0 B                          0%

        """)
    #expect(
      json(report).hasSuffix(
        #"""
        "groups":[],"rest":null,"histograms":{"ages":[
        {"key":"under 1 h","entries":0,"bytes":0},
        {"key":"1-6 h","entries":2,"bytes":300},
        {"key":"6-24 h","entries":0,"bytes":0},
        {"key":"1-3 d","entries":1000,"bytes":100},
        {"key":"3-7 d","entries":0,"bytes":0},
        {"key":null,"entries":1,"bytes":1}
        ],"sizes":[
        {"key":"0 B","entries":0,"bytes":0},
        {"key":null,"entries":1,"bytes":0}
        ]}}

        """#))
    report.histograms = .init(ages: [.init(key: "under 1 h")], sizes: [])
    #expect(text(report).components(separatedBy: "AGE").count == 1)
  }

  @Test func `the grouping is not repeated in a second table`() {
    var report = UsageReport(footprint: Footprint())
    report.bodyBytes = 400
    let group = UsageReport.Group(key: "1", entries: 2, bytes: 300)
    report.groups = [group]
    report.histograms = .init(ages: [group], sizes: [group])
    for (grouping, titles) in [
      (.age, ["AGE", "SIZE"]), (.size, ["SIZE", "AGE"]), (.status, ["STATUS", "AGE", "SIZE"]),
    ] as [(UsageReport.Grouping, [String])] {
      report.grouping = grouping
      let found = text(report).split(separator: "\n").filter { $0.contains("SHARE") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }
      #expect(found == titles)
    }
  }

  @Test func `unknown values are null`() throws {
    let parsed = try JSONSerialization.jsonObject(
      with: Data(json(UsageReport(footprint: Footprint())).utf8))
    let members = try #require(parsed as? [String: Any])
    let unknown = members.filter { $0.value is NSNull }.keys.sorted()
    #expect(
      unknown == [
        "capacity_bytes", "churn", "histograms", "in_use_bytes", "median_body_bytes",
        "median_is_exact",
        "newest_stored", "oldest_stored", "oversized_bodies", "rest", "savings", "superseded",
      ])
  }

  @Test func `keys are masked like URLs`() {
    var report = UsageReport(footprint: Footprint())
    report.groups = [.init(key: "https://u:p@h/?token=abc", entries: 1, bytes: 1)]
    #expect(text(report).contains("https://***@h/?token=***"))
    #expect(text(report, SecretPolicy(showSecrets: true)).contains("https://u:p@h/?token=abc"))
    #expect(json(report).contains("https://u:p@h/?token=abc"))
    #expect(json(report, SecretPolicy(redactURLs: true)).contains("https://***@h/?token=***"))
    var values = TextBuffer()
    let redacting = UsageRenderer(secrets: SecretPolicy(redactURLs: true), now: now)
    redacting.appendCSV(report, into: &values)
    redacting.appendTSV(report, into: &values)
    #expect(
      Samples.text(values) == """
        key,entries,bytes
        https://***@h/?token=***,1,1
        key\tentries\tbytes
        https://***@h/?token=***\t1\t1

        """)
  }

  @Test func `a host contains nothing that is masked in its URL`() {
    let alphabet = Array("uP1:/@?#;[]\\=%.".utf8)
    let starts = ["", "https://", "https://u:p@", "a:", "//"].map { Array($0.utf8) }
    var state: UInt64 = 7
    for round in 0..<20_000 {
      let bytes = (0..<(round % 20)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % alphabet.count]
      }
      let url = ByteString(starts[round % starts.count] + bytes + Array("@h".utf8))
      let host = CanonicalURL.host(of: url)
      if host != CanonicalURL.host(of: Mask.url(url)) || host?.bytes.contains(0x40) == true {
        Issue.record("seed 7, round \(round): \(url.string ?? "")")
      }
    }
  }

  private func text(_ report: UsageReport, _ secrets: SecretPolicy = SecretPolicy()) -> String {
    var buffer = TextBuffer()
    UsageRenderer(secrets: secrets, now: now)
      .appendText(report, of: Samples.store, into: &buffer)
    return Samples.text(buffer)
  }

  private func json(_ report: UsageReport, _ secrets: SecretPolicy = SecretPolicy()) -> String {
    var buffer = TextBuffer()
    UsageRenderer(secrets: secrets, now: now)
      .appendJSON(report, of: Samples.store, into: &buffer)
    return Samples.text(buffer)
  }

  @Test func `an error is one line of JSON`() {
    let error = ErrorRenderer.json(
      code: 75, kind: "busy", message: "a\n\"b\"", hint: nil, path: "/\u{202E}")
    #expect(
      Samples.text(error)
        == #"{"schema":"urlcache-admin.error/1","code":75,"kind":"busy","message":"a\n\"b\"","#
        + #""hint":null,"path":"/\u202E"}"# + "\n")
  }
}
