import HTTPCaching
import Testing

/// Known bugs in other caches and tools: one test for each.
///
/// The comment before a test names the software with the bug.
@Suite struct CommonBugTests {
  private let now = Sample.now

  private func freshness(_ lines: String..., after seconds: Int64 = 0) -> Freshness {
    Freshness(
      of: Exchange(status: 200, fields: Sample.fields(lines), responseTime: now),
      at: now + seconds)
  }

  private func decision(
    _ exchange: Exchange, _ request: Request = Request(), after seconds: Int64 = 0
  ) -> Reuse.Decision {
    Reuse(of: exchange, for: request, at: now + seconds).decision
  }

  // OkHttp and HTTP::Response follow RFC 2616.
  @Test func `the delay is added to Age and not to the greater of the two`() {
    let exchange = Sample.response(
      "Date: \(Sample.date(-100))", "Age: 10", requestTime: now - 5)
    #expect(CurrentAge(of: exchange, at: now).seconds == 100)
  }

  // WebKit.
  @Test func `the delay is not left out`() {
    #expect(
      CurrentAge(of: Sample.response("Age: 10", requestTime: now - 5), at: now).seconds == 15)
  }

  // http-cache-semantics.
  @Test func `Date counts for the age`() {
    #expect(freshness("Date: \(Sample.date(-100))").age.seconds == 100)
  }

  // hishel and CacheControl.
  @Test func `Age counts for the age`() {
    #expect(freshness("Date: \(Sample.date())", "Age: 100", after: 1).age.seconds == 101)
  }

  // Drafts of RFC 9111.
  @Test func `an invalid Age does not make a response stale`() {
    #expect(freshness("Cache-Control: max-age=60", "Age: old").isFresh)
  }

  // OkHttp, Apache, hishel and http-cache-semantics.
  @Test func `of two values the first counts and not the last`() {
    #expect(freshness("Cache-Control: max-age=5, max-age=60").lifetime.seconds == 5)
    #expect(freshness("Age: 7", "Age: 0").age.seconds == 7)
    #expect(
      freshness("Expires: \(Sample.date(5))", "Expires: \(Sample.date(60))").lifetime.seconds == 5)
  }

  // WebKit and hishel.
  @Test func `an invalid max-age does not leave the lifetime to Expires`() {
    let expires = "Expires: \(Sample.date(60))"
    for value in ["1.5", "-1", "+5", "5s", "", " 5", "0x10"] {
      #expect(!freshness("Cache-Control: max-age=\(value)", expires).isFresh, "\(value)")
    }
  }

  // WebKit.
  @Test func `an invalid Expires does not leave the lifetime to a heuristic`() {
    #expect(!freshness("Expires: 0", "Last-Modified: \(Sample.date(-9_000))").isFresh)
  }

  // WebKit.
  @Test func `an age that equals the lifetime is stale`() {
    #expect(!freshness("Cache-Control: max-age=60", after: 60).isFresh)
  }

  // http-cache-semantics.
  @Test func `must-revalidate has no effect while fresh`() {
    #expect(
      decision(Sample.response("Cache-Control: max-age=60, must-revalidate")) == .useStored)
  }

  // Chromium, WebKit and OkHttp.
  @Test func `Pragma in a response is ignored, with a note`() {
    let exchange = Sample.response("Cache-Control: max-age=60", "Pragma: no-cache")
    #expect(decision(exchange) == .useStored)
    #expect(FieldFinding.all(about: exchange).map(\.kind) == [.responsePragma])
  }

  // WebKit.
  @Test func `max-stale does not beat must-revalidate`() {
    #expect(
      decision(
        Sample.response("Cache-Control: max-age=0, must-revalidate"),
        Sample.request("Cache-Control: max-stale")) == .validate)
  }

  // WebKit honours only 0.
  @Test func `any max-age of a request counts`() {
    #expect(
      decision(
        Sample.response("Cache-Control: max-age=60"), Sample.request("Cache-Control: max-age=5"),
        after: 6) == .validate)
  }

  // WebKit reads this format as local time.
  @Test func `all forms of a date are in UTC`() {
    for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
      #expect(HTTPDate.secondsSince1970(bytes(date), now: now) == 784_111_777)
    }
  }

  // Most libraries split the centuries at 69 or 70, whatever the current year is.
  @Test func `two digits are a year within 50 of now`() {
    // 2075-10-09 is less than 50 years ahead of October 2025, 2076 is more.
    let before = HTTPDate.secondsSince1970(
      bytes("Wednesday, 09-Oct-75 00:00:00 GMT"), now: now)
    let after = HTTPDate.secondsSince1970(
      bytes("Saturday, 09-Oct-76 00:00:00 GMT"), now: now)
    #expect(before == 3_337_804_800)
    #expect(after == 213_667_200)
  }

  // Python's email.utils, which hishel and CacheControl use to parse dates.
  @Test func `a date in another zone is invalid`() {
    for zone in ["UTC", "+0000", "EST", "PST", "Z", ""] {
      #expect(!freshness("Expires: Fri, 01 Jan 2100 00:00:00 \(zone)").isFresh, "\(zone)")
    }
  }

  // An HTTP client in Rust.
  @Test func `a date with a wrong day of the week is valid, with a note`() {
    let exchange = Sample.response("Expires: Mon, 01 Jan 2100 00:00:00 GMT")
    #expect(Freshness(of: exchange, at: now).isFresh)
    #expect(FieldFinding.all(about: exchange).map(\.kind) == [.wrongWeekday])
  }

  // OkHttp uses no heuristic for URLs with a query.
  @Test func `a query does not keep a heuristic from being used`() {
    let exchange = Sample.response(
      "Last-Modified: \(Sample.date(-9_000))",
      request: Request(targetURI: bytes("https://a.example/?q")))
    #expect(Freshness(of: exchange, at: now).lifetime.seconds == 900)
  }

  // hishel limits it to 7 days, HTTP::Response to one.
  @Test func `a heuristic lifetime has no limit, but is noted`() {
    let exchange = Sample.response("Last-Modified: \(Sample.date(-86_400_000))")
    let freshness = Freshness(of: exchange, at: now)
    #expect(freshness.lifetime.seconds == 8_640_000)
    #expect(freshness.fieldFindings(about: exchange).map(\.kind) == [.longHeuristic])
  }

  // hishel uses the current time, so that a response grows fresher over time.
  @Test func `a heuristic lifetime is based on Date`() {
    for seconds in [0, 90_000] as [Int64] {
      let freshness = freshness("Last-Modified: \(Sample.date(-9_000))", after: seconds)
      #expect(freshness.lifetime.seconds == 900)
    }
  }

  // WebKit uses a heuristic for any status, and a year for 301 and 410.
  @Test func `a heuristic needs a status and a Last-Modified`() {
    let modified = "Last-Modified: \(Sample.date(-9_000))"
    #expect(!Freshness(of: Sample.response(modified, status: 302), at: now).isFresh)
    #expect(!Freshness(of: Sample.response(status: 301), at: now).isFresh)
    #expect(!Freshness(of: Sample.response(status: 410), at: now).isFresh)
  }

  // Foundation on Linux.
  @Test func `nothing is fresh forever without a lifetime`() {
    #expect(decision(Sample.response("ETag: \"a\"")) == .validate)
  }

  // Foundation on Linux.
  @Test func `s-maxage does not override Expires`() {
    #expect(freshness("Cache-Control: s-maxage=0", "Expires: \(Sample.date(60))").isFresh)
  }

  // Foundation on Linux counts from the earlier of Date and storing.
  @Test func `the age on receipt is not counted twice`() {
    let freshness = freshness(
      "Cache-Control: max-age=60", "Date: \(Sample.date(-50))", "Age: 20", after: 5)
    #expect(freshness.age.seconds == 55)
    #expect(freshness.isFresh)
  }

  // WebKit ignores the qualified form; OkHttp treats it as the unqualified one.
  @Test func `no-cache with fields only applies to these fields`() {
    let exchange = Sample.response("Cache-Control: max-age=60, no-cache=\"Set-Cookie\"")
    let reuse = Reuse(of: exchange, for: Request(), at: now)
    #expect(reuse.decision == .useStored)
    #expect(reuse.fieldsToWithhold == ["Set-Cookie"])
  }

  // Safari.
  @Test func `must-understand overrides no-store`() {
    #expect(
      Storability(of: Sample.response("Cache-Control: no-store, must-understand")).mayStore)
  }

  // Foundation on Linux does not store such responses.
  @Test func `Authorization and Vary do not restrict a private cache`() {
    let request = Sample.request("Authorization: Basic eDp5", "Accept: a")
    let exchange = Sample.response(
      "Cache-Control: max-age=60", "Vary: Accept", request: request)
    #expect(Storability(of: exchange).mayStore)
    #expect(decision(exchange, request) == .useStored)
  }

  // Many caches compare the whole value with `*` instead of each member.
  @Test func `an asterisk anywhere never matches`() {
    #expect(decision(Sample.response("Cache-Control: max-age=60", "Vary: Accept, *")) == .forward)
  }

  // OkHttp sends only one validator, and Date if there is none; undici sends the time of storing.
  @Test func `both validators are sent, and none is invented`() {
    let both = ConditionalRequest(
      validating: Sample.response("ETag: \"a\"", "Last-Modified: \(Sample.date(-9))"), for: nil)
    #expect(both.conditions.map { text($0.name) } == ["If-None-Match", "If-Modified-Since"])
    let none = ConditionalRequest(
      validating: Sample.response("Date: \(Sample.date())"), for: nil)
    #expect(none.conditions == [])
  }

  // Splitting by commas.
  @Test func `a comma is part of an entity tag`() {
    let request = ConditionalRequest(validating: Sample.response("ETag: \"a,b\""), for: nil)
    #expect(request.conditions.map { text($0.value) } == ["\"a,b\""])
  }

  // Resuming downloads.
  @Test func `a weak tag does not identify part of a body`() {
    let request = ConditionalRequest(
      validating: Sample.response("ETag: W/\"a\"", "Content-Length: 9", bodyBytes: 5), for: nil)
    #expect(request.conditions == [])
  }

  // WebKit does not update validators and any Content-* fields.
  @Test func `a 304 updates validators and most of Content-`() {
    let names = ["ETag", "Last-Modified", "Content-Language", "Content-Security-Policy"]
    let response = NotModified(
      fields: Sample.fields(names.map { "\($0): new" }), requestTime: now, responseTime: now)
    let stored = Exchange(
      status: 200, fields: Sample.fields(names.map { "\($0): old" }), responseTime: now)
    #expect(Freshening(stored, by: response).exchange.fields == response.fields)
  }

  // hishel treats the strong tag like the weak one.
  @Test func `a 304 with a strong tag does not match a weak one`() {
    let response = NotModified(
      fields: Sample.fields("ETag: \"a\""), requestTime: now, responseTime: now)
    #expect(!response.selection(of: Sample.response("ETag: W/\"a\"")).mayUpdate)
  }

  // Caches that add the Age of the old response to the time since the 304.
  @Test func `the old Age is not counted twice`() {
    let stored = Sample.response("Cache-Control: max-age=60", "Age: 59")
    let response = NotModified(
      fields: Sample.fields("Date: \(Sample.date(90))"), requestTime: now + 90,
      responseTime: now + 90)
    let exchange = Freshening(stored, by: response).exchange
    #expect(Freshness(of: exchange, at: now + 90).remainingSeconds == 60)
  }

  // Tools that only check whether the server has a newer version.
  @Test func `an older Last-Modified is a change`() {
    func validators(_ offset: Int64) -> Validators {
      Validators(
        Sample.fields("Last-Modified: \(Sample.date(offset))"), date: .absent, now: now)
    }
    #expect(
      ValidatorComparison(stored: validators(0), origin: validators(-1))
        == .rolledBack(.lastModified))
  }

  // Foundation on Linux numbers its cases by declaration order.
  @Test func `policy 2 is returnCacheDataElseLoad`() {
    #expect(RequestCachePolicy(rawValue: 2) == .returnCacheDataElseLoad)
    #expect(RequestCachePolicy(rawValue: 4) == .reloadIgnoringLocalAndRemoteCacheData)
  }

  // Implementations with 32-bit and 64-bit sums.
  @Test func `large numbers neither wrap around nor trap`() {
    let great = String(repeating: "9", count: 40)
    let freshness = freshness("Cache-Control: max-age=\(great)", "Age: \(great)", after: 1)
    #expect(freshness.lifetime.seconds == 2_147_483_648)
    #expect(freshness.age.seconds == 2_147_483_649)
    let exchange = Sample.response(receivedAt: .min)
    #expect(Freshness(of: exchange, at: .max).age.seconds == .max)
  }

  // Clocks that are set back.
  @Test func `a time before the receipt does not make the age negative`() {
    let freshness = freshness("Cache-Control: max-age=60", after: -1_000)
    #expect(freshness.age.seconds == 0)
    #expect(freshness.remainingSeconds == 60)
  }
}
