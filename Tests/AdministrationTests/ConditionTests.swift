@testable import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct ConditionTests {
  /// The time at which ``response`` was stored.
  private let stored = 1_760_000_000.0

  /// A response with a value for every field, so that each field has a true and a false condition.
  private var response: StoredResponse {
    var response = StoredResponse(id: .row(7))
    response.key = "the key"
    response.url = "https://API.example.com:8443/a/b.png?v=2&user%20id=a%2Bb+c&v=&flag&q=\"1\""
    response.request.method = "GET"
    response.request.headers = HeaderFields([.init(name: "Accept", value: "text/html")])
    response.status = 404
    response.mimeType = "Image/PNG"
    response.stored = Timestamp(secondsSince1970: stored)
    response.firstStored = Timestamp(secondsSince1970: stored - 86_400)
    response.bodySize = 4_096
    response.bodyLocation = .file
    response.partition = "site.example"
    response.storagePolicy = .allowedInMemoryOnly
    response.userInfo = [
      .init(key: "user", value: .text("ann")), .init(key: "n", value: .integer(600)),
      .init(key: "kept", value: .boolean(true)),
      .init(
        key: "Cached Date", value: Timestamp(secondsSince1970: stored).map { .date($0) } ?? .null),
    ]
    response.responseHeaders = HeaderFields([
      .init(name: "cache-control", value: "max-age=60"),
      .init(name: "Cache-Control", value: "Must-Revalidate"), .init(name: "ETag", value: "W/\"a\""),
      .init(name: "Content-Length", value: "12288"),
      .init(name: "Date", value: "Thu, 09 Oct 2025 08:53:19 GMT"),
      .init(name: "Last-Modified", value: "Wed, 08 Oct 2025 00:00:00 GMT"),
    ])
    return response
  }

  @Test(arguments: [
    ("host = api.example.com", "host = example.com"), ("host = API.Example.COM", "host = api"),
    ("host = .example.com", "host = .ple.com"), ("host != example.com", "host != .example.com"),
    ("host ^= api.", "host ^= example"), ("host $= .com", "host $= .org"),
    ("host *= 'EXAMPLE'", "host *= 'examples'"), ("host in (a, .com)", "host in (a, b)"),
    ("path = /a/b.png", "path = /a/b.PNG"), ("path $= \".png\"", "path *= '?'"),
    ("url $= 'q=\"1\"'", "url $= \"q='1'\""), ("url *= \"&q=\\\"\"", "url ^= http:"),
    ("url *= ''", "url *= 'a/c'"), ("scheme = HTTPS", "scheme = http"),
    ("method = get", "method = post"), ("mime ^= image/", "mime = image/gif"),
    ("partition = site.example", "partition = Site.example"), ("key = 'the key'", "key = the"),
    ("body = file", "body = inline"), ("body in (inline, file)", "body != file"),
    ("partial = true", "partial = false"), ("partial in (true)", "partial != true"),
    ("received < 33.4%", "received < 33%"), ("received > 33", "received >= 33.34%"),
    ("received != 33%", "received in (0%, 100%)"),
    ("freshness = fresh", "freshness in (stale, no-lifetime)"),
    ("validator = strong", "validator = weak"), ("validator in (none, etag)", "validator = none"),
    ("status = 404", "status = 40"), ("status = 4xx", "status = 5XX"),
    ("status in (200, 4xx)", "status in (200, 5xx)"), ("status != 5xx", "status != 4xx"),
    ("status >= 404", "status > 404"), ("status <= 404", "status < 404"),
    ("size = 4K", "size = 4kB"), ("size > 4095", "size > 4KiB"), ("size in (1, 4096)", "size < 4K"),
    ("age > 29s", "age > 30s"), ("age <= 30s", "age < 30s"), ("ttl <= 29s", "ttl < 29s"),
    ("lifetime > 59s", "lifetime > 1min"), ("current-age < 32s", "current-age < 31s"),
    ("stored >= 2025-10-09T08:53:20Z", "stored > 2025-10-09T08:53:20Z"),
    ("first-stored < '2025-10-09T00:00:00Z'", "first-stored < 2025-10-08T00:00:00+00:00"),
    ("date < 2025-10-09T08:53:20Z", "date < 2025-10-09T08:53:19Z"),
    ("last-modified >= 2025-10-08T00:00:00Z", "last-modified > 2025-10-08T00:00:00Z"),
    ("query(v) = 2", "query(v) = 3"), ("query(v) = ''", "query(v) = 1"),
    ("query('user id') = 'a+b c'", "query('user id') = a+b"),
    ("query(\"flag\") = ''", "query(flag) ^= x"),
    ("query(q) *= 1", "query(q) *= 2"), ("query(v) in (3, 2)", "query(v) in (3, 4)"),
    ("header(ETAG) = 'W/\"a\"'", "header('etag') = a"),
    ("header(cache-control) = 'max-age=60, Must-Revalidate'", "header(cache-control) = max-age"),
    ("header(cache-control) = Must-Revalidate", "header(cache-control) = must"),
    ("directive = must-revalidate", "directive = no-store"),
    ("directive in (MAX-AGE)", "directive = none"),
    ("request_header(accept) ^= text/", "request-header(accept) *= json"),
    ("etag = 'W/\"a\"'", "etag = 'W/\"A\"'"),
    ("cache-control *= must-revalidate", "cache-control *= no-store"),
    ("cache_control = 'max-age=60, must-revalidate'", "cache_control = max-age"),
    ("storage_policy = memory-only", "storage-policy in (allowed, not-allowed)"),
    ("user_info(user) = ann", "user_info(user) = Ann"),
    ("user-info(user) ^= an", "user-info(user) $= an"),
    ("user-info(n) = 600", "user-info(n) = 60"), ("user-info(n) >= 600", "user-info(n) > 600"),
    ("user-info(kept) = true", "user-info(kept) = false"),
    (
      "user-info('Cached Date') < 2025-10-09T08:53:21Z",
      "user-info('Cached Date') < 2025-10-09T08:53:20Z"
    ),
    ("user-info('Cached Date') = 2025-10-09T08:53:20Z", "user-info('Cached Date') = 2025-10-09"),
    ("expires-at <= 2025-10-09T08:54:19Z", "expires-at < 2025-10-09T08:54:19Z"),
  ])
  func `each field is compared according to its kind`(_ yes: String, _ no: String) throws {
    let decisions = try [yes, no, "!\(yes)", "!(\(no))"].map { try decision(response, [$0]) }
    #expect(decisions == [.selected, .notSelected, .notSelected, .selected])
    // Nothing is known about an empty response, so neither a condition nor its negation is true.
    let unknown = try [yes, no, "!\(yes)", "!(\(no))"].map { text in
      try decision(StoredResponse(id: .row(1)), [text])
    }
    #expect(!unknown.contains(.selected))
  }

  @Test func `every field has a case above or fails here`() throws {
    let error = try #require(throws: ConditionError.self) { try Condition("nothing") }
    let names = try #require(error.hint).split(separator: " ").dropFirst(3)
    #expect(
      names.map(String.init) == [
        "stored", "first-stored", "age", "status", "method", "size", "mime", "url", "host",
        "path", "scheme", "partition", "type", "range", "received", "etag", "last-modified",
        "cache-control",
        "date", "freshness", "ttl", "lifetime", "current-age", "expires-at", "key",
        "user-info(\"NAME\")", "query(\"NAME\")", "header(\"NAME\")", "request-header(\"NAME\")",
        "directive", "storage-policy", "body", "partial", "validator",
        // Fields that depend on rules are tested with rules, in test_rules.py.
        "class", "revalidation",
      ])
  }

  @Test(
    arguments: [
      ("T || U", true), ("U || T", true), ("F || U", nil), ("U || F", nil), ("U || U", nil),
      ("T && U", nil), ("U && T", nil), ("F && U", false), ("U && F", false), ("!U", nil),
      ("!!T", true), ("T || F && F", true), ("(T || F) && F", false), ("F && F || T", true),
      ("F && (F || T)", false), ("!F && F", false), ("!(F && F)", true), ("!T || T", true),
      ("F || F || T", true), ("T && T && F", false), ("T&&!F||F", true),
    ] as [(String, Bool?)])
  func `truth has three values, and && binds closer than ||`(
    _ text: String, _ expected: Bool?
  ) throws {
    let comparisons = ["T": "status = 404", "F": "status = 1", "U": "partition = a"]
    let expression = text.map { comparisons[String($0)] ?? String($0) }.joined()
    var known = response
    known.partition = nil
    // Only true conditions select; neither an unknown one nor its negation does.
    #expect(try decision(known, [expression]) == (expected == true ? .selected : .notSelected))
    #expect(
      try decision(known, ["!(\(expression))"]) == (expected == false ? .selected : .notSelected))
    // Words mean the same as signs, in any case of letters.
    let words = expression.replacing("&&", with: " and ").replacing("||", with: " Or ")
      .replacing("!", with: "NOT ")
    #expect(try Condition(words).expression == Condition(expression).expression)
  }

  @Test(arguments: ["and = 1", "not", "host = a and", "host = a not size > 1", "or host = a"])
  func `a word for a sign is no field, and stands only where the sign can`(_ text: String) {
    #expect(throws: ConditionError.self) { try Condition(text) }
  }

  @Test func `a word for a sign can be a value`() throws {
    #expect(try decision(response, ["host = and or host = 'not' or status = 404"]) == .selected)
  }

  @Test func `one of several conditions is enough, and other criteria must match too`() throws {
    #expect(try decision(response, ["status = 1", "size = 4K"]) == .selected)
    #expect(try decision(response, ["status = 1", "size = 4"]) == .notSelected)
    #expect(try decision(response, ["size == 4K"]) == .selected)
    #expect(try decision(response, ["size == 4"]) == .notSelected)
    var selection = Selection()
    selection.conditions = [try Condition("size = 4K")]
    selection.statuses = [200...200]
    #expect(try selection.decision(for: response, now: now()) == .notSelected)
    #expect(!selection.isEmpty)
  }

  @Test func `entries kept because of missing information are reported`() throws {
    var response = response
    response.stored = nil
    #expect(try decision(response, ["age > 1s"]) == .unknownTime)
    #expect(try decision(response, ["age > 1s && status = 1"]) == .notSelected)
    #expect(try decision(response, ["freshness = stale"]) == .unknownFreshness)
    #expect(try decision(response, ["partition = a", "!(stored < 2026-01-01)"]) == .unknownTime)
    response.partition = nil
    #expect(try decision(response, ["partition = a"]) == .notSelected)
  }

  @Test func `ages are relative to the time of the selection`() throws {
    var selection = Selection()
    selection.conditions = [try Condition("age > 1h")]
    #expect(try selection.decision(for: response, now: now()) == .notSelected)
    selection.ageBasis = .firstStored
    #expect(try selection.decision(for: response, now: now()) == .selected)
    #expect(selection.projection == .firstStored)
  }

  @Test(
    arguments: [
      ("status = 1", .status), ("url = a", [.url, .key]), ("path = a || size > 1", [.url, .body]),
      ("!(mime = a/b) && method = get", [.mimeType, .method]), ("age > 1s", .stored),
      ("date < 2026-01-01", .responseHeaders), ("ttl > 1h", ResponseFreshness.projection),
      ("partition in (a, b)", .storage), ("storage-policy = allowed", .storage),
      ("query(a) = b", .url), ("etag = a || cache-control = b", .responseHeaders),
      ("user-info(a) = b", .userInfo), ("header(a) = b", .responseHeaders),
      ("request-header(a) = b", .requestHeaders),
    ] as [(String, Projection)])
  func `only fields in an expression are decoded`(_ text: String, _ expected: Projection) throws {
    var selection = Selection()
    selection.conditions = [try Condition(text)]
    #expect(selection.projection == expected)
  }

  @Test(arguments: [
    ("query = 1", 6..<7, "'query' must be followed by a name in parentheses"),
    ("query() = 1", 6..<7, "expected a name before this"),
    ("query(a b) = 1", 8..<9, "expected ')' after the name"),
    ("user-info(n) < soon", 15..<19, "'soon' is neither a number nor a time"),
    ("storage-policy = disk", 17..<21, "'disk' is not one of the allowed values"),
    ("query(v) < 2", 9..<10, "'query' cannot be used with '<'"),
  ])
  func `invalid names and values are refused with their location`(
    _ text: String, _ place: Range<Int>, _ reason: String
  ) throws {
    let error = #expect(throws: ConditionError.self) { try Condition(text) }
    #expect(error?.reason == reason)
    #expect(error?.range == place)
  }

  @Test func `a missing field is neither equal nor unequal`() throws {
    for text in ["query(w) = 1", "query(w) != 1", "user-info(x) = 1", "user-info(x) != 1"] {
      #expect(try decision(response, [text]) == .notSelected, "\(text)")
    }
  }

  @Test func `an entry without a URL is found by its key`() throws {
    var response = response
    response.url = nil
    #expect(try decision(response, ["url = 'the key'"]) == .selected)
    #expect(try decision(response, ["url != 'the key'"]) == .notSelected)
    #expect(try decision(response, ["host = .example.com"]) == .notSelected)
  }

  @Test func `nesting is limited to 64 levels`() throws {
    let nested = { (depth: Int) in
      String(repeating: "(", count: depth / 2) + String(repeating: "!", count: depth - depth / 2)
        + "status = 404" + String(repeating: ")", count: depth / 2)
    }
    #expect(try decision(response, [nested(64)]) == .selected)
    let error = #expect(throws: ConditionError.self) { try Condition(nested(65)) }
    #expect(error?.range == 64..<65)
    #expect(throws: ConditionError.self) { try Condition(nested(200_000)) }
    // An expression without nesting may be long.
    let long = Array(repeating: "status = 1", count: 10_000).joined(separator: " || ")
    #expect(try decision(response, [long + "||size=4K"]) == .selected)
  }

  @Test func `no text traps, and errors are located within it`() {
    let words = [
      "host", "=", "!=", "&&", "||", "(", ")", "in", ",", "\"", "'", "\\", "404", "4xx", "7d",
      "age",
      "status", "é", "\u{202E}", "\0", " ", "\n", "9999999999999999999", "!", "size", "1e999",
      "stored", "2026-01-31", "e\u{301}", "<", ">=",
    ]
    var failures: [UInt64] = []
    for seed in 0..<5_000 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let text = (0..<Int.random(in: 1...12, using: &random))
        .map { _ in words.randomElement(using: &random) ?? "" }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      do throws(ConditionError) { _ = try Condition(text) } catch {
        if error.range.upperBound > text.utf8.count || error.reason.isEmpty {
          failures.append(seed)
        }
      }
    }
    #expect(failures == [])
  }

  /// 30 seconds after ``stored``.
  private func now() throws -> Timestamp {
    try #require(Timestamp(secondsSince1970: stored + 30))
  }

  private func decision(
    _ response: StoredResponse, _ conditions: [String]
  ) throws -> Selection.Decision {
    var selection = Selection()
    selection.conditions = try conditions.map { try Condition($0) }
    return try selection.decision(for: response, now: now())
  }
}
