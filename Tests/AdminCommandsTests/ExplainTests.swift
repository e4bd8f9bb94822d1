import AdminCommands
import Bytes
import ResponseStorage
import TestSupport
import Testing

/// Runs complete command lines of `explain`, and compares their output with golden files.
@Suite struct ExplainTests {
  /// An entry, and the question about it.
  struct Case: Sendable {
    /// The header fields of the response, one per line.
    var response: [String]
    /// The header fields of the request; `nil` if they are not stored.
    var request: [String]? = ["Accept: */*"]
    var status: Int64 = 200
    /// The size of the stored body.
    var size: ByteCount = 1_000
    /// The time of the question, in seconds after the entry was stored.
    var later: Double = 60
    /// The keys and dates that the application attached, in seconds after the entry was stored.
    var userInfo: KeyValuePairs<ByteString, Double> = [:]
    var options: [String] = []
    var exit: AdminCommands.ExitStatus = .no
  }

  /// 2025-10-09T09:10:07Z, when all entries were stored.
  private static let stored = 1_760_001_007.0
  private static let date = "Date: Thu, 09 Oct 2025 09:10:07 GMT"

  private static let cases: KeyValuePairs<String, Case> = [
    "fresh": Case(
      response: [date, "Cache-Control: max-age=3600, public", "ETag: \"v1\""], exit: .done),
    "stale": Case(
      response: [
        "Date: Thu, 09 Oct 2025 08:50:07 GMT", "Age: 900",
        "Cache-Control: max-age=3600, s-maxage=600, private, must-revalidate, stale-if-error=60",
        "Expires: Thu, 09 Oct 2025 12:00:00 GMT", "ETag: W/\"v42\"",
        "Last-Modified: Wed, 08 Oct 2025 10:00:00 GMT", "Vary: Accept-Language",
      ], request: ["Accept-Language: en"], later: 5_141),
    "no-cache": Case(
      response: [date, "Cache-Control: max-age=3600, no-cache", "ETag: \"v1\""], later: 12,
      exit: .done),
    "heuristic": Case(
      response: [date, "Last-Modified: Fri, 19 Sep 2025 09:10:07 GMT"], exit: .done),
    "invalid-expires": Case(response: [date, "Expires: 0", "ETag: \"v1\""]),
    "invalid-max-age": Case(
      response: [date, "Cache-Control: max-age=1h", "Expires: Fri, 10 Oct 2025 09:10:07 GMT"]),
    "invalid-age": Case(
      response: [date, "Cache-Control: max-age=3600", "Age: 12 min"], exit: .done),
    "no-validator": Case(response: [date, "Cache-Control: max-age=30"]),
    "no-store": Case(
      response: [date, "Cache-Control: no-store, max-age=600", "Set-Cookie: session=1"],
      exit: .done),
    "future-date": Case(
      response: ["Date: Thu, 09 Oct 2025 10:10:07 GMT", "Cache-Control: max-age=600"], exit: .done),
    "vary-mismatch": Case(
      response: [
        date, "Cache-Control: max-age=3600", "Vary: Accept-Language, Cookie", "ETag: \"v1\"",
      ],
      request: ["Accept-Language: en", "Cookie: session=1"],
      options: ["--request-header", "Accept-Language: de"], exit: .done),
    "vary-unknown": Case(
      response: [date, "Cache-Control: max-age=3600", "Vary: Accept-Language"], request: nil,
      exit: .partly),
    "stale-while-revalidate": Case(
      response: [date, "Cache-Control: max-age=30, stale-while-revalidate=60", "ETag: \"v1\""]),
    "partial": Case(
      response: [date, "Cache-Control: max-age=3600", "Content-Length: 5000", "ETag: \"v1\""],
      exit: .done),
    "partial-weak": Case(
      response: [date, "Cache-Control: max-age=3600", "Content-Length: 5000", "ETag: W/\"v1\""],
      exit: .done),
    "partial-foundation": Case(
      response: [
        date, "Cache-Control: max-age=3600", "Content-Length: 5000",
        "Last-Modified: Wed, 08 Oct 2025 10:00:00 GMT",
      ], options: ["--platform", "foundation"], exit: .done),
    "expiry-599": Case(
      response: [date, "Cache-Control: max-age=3600"], later: 599,
      userInfo: ["CustomURLCacheExpiration": 0], exit: .done),
    "expiry-600": Case(
      response: [date, "Cache-Control: max-age=3600"], later: 600,
      userInfo: ["CustomURLCacheExpiration": 0], exit: .done),
    "expiry-601": Case(
      response: [date, "Cache-Control: max-age=3600"], later: 601,
      userInfo: ["CustomURLCacheExpiration": 0, "Cached Date": 0]),
    "hostile": Case(
      response: [
        date, "Cache-Control: max-age=\u{1B}[31m, \u{202E}x", "ETag: \u{7}\"", "Vary: \u{9B}",
        "Expires: \u{1B}]0;x",
      ]),
    "policy-2": Case(
      response: [date, "Cache-Control: max-age=30", "ETag: \"v1\""],
      options: ["--policy", "returnCacheDataElseLoad"]),
    "policy-4": Case(
      response: [date, "Cache-Control: max-age=3600", "ETag: \"v1\""], options: ["--policy", "4"],
      exit: .done),
    "max-stale": Case(
      response: [date, "Cache-Control: max-age=30"],
      options: ["--request-header", "cache-control: max-stale=60"]),
    "capacity": Case(
      response: [date, "Cache-Control: max-age=3600"], size: 60_000,
      options: ["--capacity", "1MB"], exit: .done),
    "foundation-for-ever": Case(
      response: [date, "ETag: \"v1\""], options: ["--platform", "foundation"]),
    "foundation-expires": Case(
      response: [date, "Expires: Fri, 10 Oct 2025 09:10:07 GMT", "ETag: \"v1\""],
      options: ["--platform", "foundation", "--policy", "3"], exit: .done),
    "foundation-vary": Case(
      response: [date, "Cache-Control: max-age=3600", "Vary: Accept"], request: nil,
      options: ["--platform", "foundation"], exit: .done),
  ]

  @Test(arguments: cases.map(\.key))
  func `an entry is explained`(_ name: String) throws {
    let found = try #require(Self.cases.first { $0.key == name }).value
    let text = try run(found, ["1"])
    #expect(text.status == found.exit)
    #expect(text.messages == "")
    let json = try run(found, ["1", "--format", "ndjson"])
    #expect(json.status == found.exit)
    try expectGolden(text.output + "\n" + json.output, named: "explain.\(name).txt")
  }

  @Test func `a document contains all entries and their count`() throws {
    let found = Case(response: [Self.date, "Cache-Control: max-age=3600"])
    let result = try run(found, ["--all", "--format", "json"])
    try expectGolden(result.output, named: "explain.json.txt")
    let none = try run(found, ["--all", "--stale", "--format", "json"])
    #expect(none.status == .done)
    #expect(none.messages == "note: no entries selected\n")
    try expectGolden(none.output, named: "explain.none.json.txt")
  }

  @Test func `many entries are written in order`() throws {
    let now = try #require(Timestamp(secondsSince1970: Self.stored))
    let store = MemoryStore(
      (1...1_000 as ClosedRange<Int64>).map { id in
        var response = StoredResponse(id: .row(id))
        response.stored = now
        response.responseHeaders = HeaderFields([
          .init(name: "Cache-Control", value: ByteString("max-age=\(id % 3)"))
        ])
        return response
      })
    for format in ["ndjson", "json", "text"] {
      let result = CommandLineResult.running(
        ["explain", "-c", "memory", "--all", "--format", format], on: store, now: now)
      #expect(result.status == .no)
      let mark = format == "text" ? "Entry                " : "{\"id\":"
      let lines = result.output.split(separator: "\n").filter { $0.hasPrefix(mark) }
      let ids = lines.map { Int($0.dropFirst(mark.count).prefix { $0.isNumber }) }
      #expect(ids == Array(1...1_000), "\(format)")
      #expect(!result.output.contains("\n\n\n"))
      guard format == "json" else { continue }
      #expect(
        result.output.hasSuffix(
          "}\n],\"fresh\":667,\"stale\":333,\"no_lifetime\":0,\"unknown\":0}\n"))
    }
  }

  @Test func `the answer no takes precedence over unknown`() throws {
    let found = Case(response: [Self.date, "Cache-Control: max-age=30"])
    #expect(try run(found, ["1", "7"]).status == .no)
    #expect(try run(found, ["7"]).messages == "error: no entry has the id 7\n")
    #expect(try run(found, ["--all"]).status == .no)
  }

  @Test(
    arguments: [
      ([], "error: no entries selected\n"),
      (
        ["1", "--policy", "6"], "error: '--policy': unknown request policy '6'\nhint: use one of: "
      ),
      (["1", "--request-header", "a b: c"], "error: '--request-header': 'a b: c' "),
      (["1", "--request-header", "a: c\u{1B}"], "error: '--request-header': 'a: c‹U+001B›' "),
    ] as [([String], String)])
  func `an invalid question is refused`(_ options: [String], _ message: String) throws {
    let result = try run(Case(response: []), options)
    #expect(result.status == .usage)
    #expect(result.messages.hasPrefix(message), "\(result.messages)")
  }

  private func run(_ found: Case, _ words: [String]) throws -> CommandLineResult {
    let stored = try #require(Timestamp(secondsSince1970: Self.stored))
    let now = try #require(Timestamp(secondsSince1970: Self.stored + found.later))
    var response = StoredResponse(id: .row(1))
    response.url = "https://api.example.com/v1/config?token=secret"
    response.key = response.url
    response.stored = stored
    response.status = found.status
    response.responseHeaders = Self.fields(found.response)
    response.request.method = "GET"
    response.request.url = response.url
    response.request.headers = found.request.map(Self.fields)
    (response.bodySize, response.bodyLocation) = (found.size, .inline)
    response.userInfo = try found.userInfo.map { key, later in
      .init(key: key, value: .date(try #require(Timestamp(secondsSince1970: Self.stored + later))))
    }
    return CommandLineResult.running(
      ["explain", "-c", "memory"] + words + found.options, on: MemoryStore([response]), now: now)
  }

  private static func fields(_ lines: [String]) -> HeaderFields {
    HeaderFields(
      lines.map { line in
        let parts = line.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        return .init(
          name: ByteString(Array(parts[0])), value: ByteString(Array(parts[1].dropFirst())))
      })
  }
}
