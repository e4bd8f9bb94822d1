import HTTPCaching
import Testing

@Suite struct ReuseTests {
  private let now = Sample.now

  /// Returns the decision on a response that was received some seconds ago, as `DECISION: REASON, …`.
  private func reuse(
    _ response: [String], _ request: [String] = [], after seconds: Int64 = 0, status: Int64 = 200,
    bodyBytes: Int64? = nil
  ) -> String {
    let exchange = Exchange(
      request: Request(), status: status, fields: Sample.fields(response),
      responseTime: now, bodyBytes: bodyBytes)
    let reuse = Reuse(
      of: exchange, for: Request(fields: Sample.fields(request)), at: now + seconds)
    #expect(!reuse.reasons.isEmpty)
    return "\(reuse.decision.rawValue): \(reuse.reasons.map { "\($0)" }.joined(separator: " "))"
  }

  private let minute = ["Cache-Control: max-age=60"]

  @Test func `fresh responses are used, stale ones are validated`() {
    #expect(reuse(minute, after: 59) == "use-stored: fresh(seconds: 1)")
    #expect(reuse(minute, after: 60) == "validate: stale(seconds: 0)")
    #expect(reuse(minute, after: 90) == "validate: stale(seconds: 30)")
    #expect(
      reuse([], after: 5)
        == "validate: noLifetime(HTTPCaching.FreshnessLifetime.NoLifetime.noLastModified)")
    #expect(reuse(minute + ["Cache-Control: immutable"]) == "use-stored: fresh(seconds: 60)")
    #expect(reuse(minute + ["Cache-Control: must-revalidate"]) == "use-stored: fresh(seconds: 60)")
    #expect(
      reuse(minute + ["Cache-Control: must-revalidate"], after: 61)
        == "validate: staleMustRevalidate(seconds: 1)")
  }

  @Test func `no-cache is validated, unless it lists fields`() {
    #expect(reuse(minute + ["Cache-Control: no-cache"]) == "validate: responseNoCache")
    let exchange = Sample.response("Cache-Control: max-age=60, no-cache=\"Set-Cookie, X\"")
    let reuse = Reuse(of: exchange, for: Request(), at: now)
    #expect(reuse.decision == .useStored)
    #expect(reuse.fieldsToWithhold == ["set-cookie", "x"])
  }

  @Test func `the request directives ask for more, or for less`() {
    for (directives, seconds, expected) in [
      ("no-cache", 0, "validate: requestNoCache"),
      ("max-age=10", 10, "use-stored: fresh(seconds: 50)"),
      ("max-age=10", 11, "validate: tooOld(age: 11, limit: 10)"),
      ("max-age=0", 0, "use-stored: fresh(seconds: 60)"),
      ("max-age=0", 1, "validate: tooOld(age: 1, limit: 0)"),
      ("min-fresh=20", 40, "use-stored: fresh(seconds: 20)"),
      ("min-fresh=20", 41, "validate: notFreshEnough(remaining: 19, limit: 20)"),
      ("max-stale", 9_999, "use-stored: maxStalePermits(seconds: 9939)"),
      ("max-stale=10", 70, "use-stored: maxStalePermits(seconds: 10)"),
      ("max-stale=10", 71, "validate: tooStale(seconds: 11, limit: 10)"),
      ("max-stale=x", 61, "validate: stale(seconds: 1)"),
      ("max-age=x, min-fresh=x", 59, "use-stored: fresh(seconds: 1)"),
      ("max-age=65, max-stale=10", 65, "use-stored: maxStalePermits(seconds: 5)"),
      ("max-age=65, max-stale=10", 66, "validate: tooOld(age: 66, limit: 65)"),
      ("only-if-cached", 0, "use-stored: fresh(seconds: 60)"),
      ("only-if-cached", 60, "gateway-timeout: stale(seconds: 0)"),
      ("only-if-cached, max-stale", 60, "use-stored: maxStalePermits(seconds: 0)"),
      ("no-store", 0, "use-stored: fresh(seconds: 60)"),
    ] as [(String, Int64, String)] {
      #expect(
        reuse(minute, ["Cache-Control: \(directives)"], after: seconds) == expected,
        "\(directives)")
    }
  }

  @Test func `max-stale permits nothing that the response forbids`() {
    let stale = ["Cache-Control: max-stale"]
    #expect(
      reuse(minute + ["Cache-Control: must-revalidate"], stale, after: 61)
        == "validate: staleMustRevalidate(seconds: 1)")
    #expect(
      reuse(minute + ["Cache-Control: no-cache"], stale, after: 61)
        == "validate: responseNoCache stale(seconds: 1)")
  }

  @Test func `Pragma only counts in a request without Cache-Control`() {
    #expect(reuse(minute, ["Pragma: no-cache"]) == "validate: requestPragma")
    #expect(
      reuse(minute, ["Pragma: no-cache", "Cache-Control: max-age=5"])
        == "use-stored: fresh(seconds: 60)")
    #expect(reuse(minute + ["Pragma: no-cache"]) == "use-stored: fresh(seconds: 60)")
  }

  @Test func `stale responses are used within their window`() {
    // RFC 5861 §3.1.
    let fields = ["Cache-Control: max-age=600, stale-while-revalidate=30"]
    #expect(reuse(fields, after: 599) == "use-stored: fresh(seconds: 1)")
    #expect(
      reuse(fields, after: 600) == "use-while-revalidating: revalidatesMeanwhile(seconds: 0)")
    #expect(
      reuse(fields, after: 629) == "use-while-revalidating: revalidatesMeanwhile(seconds: 29)")
    #expect(reuse(fields, after: 630) == "validate: stale(seconds: 30)")
    #expect(
      reuse(fields + ["Cache-Control: must-revalidate"], after: 600)
        == "validate: staleMustRevalidate(seconds: 0)")
    // A request with max-age does not accept stale responses (RFC 9111 §5.2.1.1).
    #expect(
      reuse(fields, ["Cache-Control: max-age=9999"], after: 600) == "validate: stale(seconds: 0)")
    #expect(
      reuse(fields, ["Cache-Control: only-if-cached"], after: 600)
        == "use-stored: revalidatesMeanwhile(seconds: 0)")
  }

  @Test func `windows are reported with their remaining time`() {
    func use(_ lines: String, _ request: String? = nil, after seconds: Int64) -> StaleUse {
      let exchange = Sample.response("Cache-Control: \(lines)")
      return StaleUse(
        of: exchange, freshness: Freshness(of: exchange, at: now + seconds),
        request: request.map { Sample.request("Cache-Control: \($0)").directives })
    }
    // RFC 5861 §4.1.
    let example = "max-age=600, stale-if-error=1200"
    #expect(use(example, after: 0).ifError == .ahead(seconds: 1_200))
    #expect(use(example, after: 900).ifError == .open(remaining: 900))
    #expect(use(example, after: 1_799).ifError == .open(remaining: 1))
    #expect(use(example, after: 1_800).ifError == .closed(since: 0))
    #expect(use(example, after: 900).whileRevalidating == nil)
    #expect(use("max-age=600", "stale-if-error=9", after: 600).ifError == .open(remaining: 9))
    #expect(use(example, "stale-if-error=9", after: 900).ifError == .open(remaining: 900))
    #expect(use(example, "stale-if-error=2000", after: 900).ifError == .open(remaining: 1_700))
    #expect(use("max-age=0, stale-if-error=x", after: 9).ifError == .invalid(bytes("x")))
    let void = use(
      "max-age=0, must-revalidate, stale-if-error=9, stale-while-revalidate=9", after: 1)
    #expect(void.prohibition == .mustRevalidate)
    #expect(void.ifError == .void(.mustRevalidate))
    #expect(void.whileRevalidating == .void(.mustRevalidate))
    #expect(use("max-age=0, no-cache, stale-if-error=9", after: 1).ifError == .void(.noCache))
    #expect(
      use("max-age=0, no-cache=\"a\", stale-if-error=9", after: 1).ifError == .open(remaining: 8))
  }

  @Test func `a response does not match a different request`() {
    func decide(_ stored: Request?, _ presented: Request) -> Reuse {
      let exchange = Sample.response(
        "Cache-Control: max-age=60", "Vary: Accept", request: stored)
      return Reuse(of: exchange, for: presented, at: now)
    }
    func request(_ method: String, _ target: String, _ accept: String = "a") -> Request {
      Request(
        method: bytes(method), targetURI: bytes(target), fields: Sample.fields("Accept: \(accept)"))
    }
    let stored = request("GET", "https://a.example/x#y")
    #expect(decide(stored, request("GET", "https://a.example/x")).decision == .useStored)
    #expect(decide(stored, request("HEAD", "https://a.example/x#z")).decision == .useStored)
    #expect(decide(stored, request("GET", "https://a.example/X")).reasons == [.otherTarget])
    #expect(decide(stored, request("POST", "https://a.example/x")).reasons == [.otherMethod])
    let head = request("HEAD", "https://a.example/x")
    #expect(decide(head, request("GET", "https://a.example/x")).decision == .forward)
    #expect(decide(head, head).decision == .useStored)
    let post = request("POST", "https://a.example/x")
    #expect(decide(post, request("GET", "https://a.example/x")).reasons == [.otherMethod])
    let german = decide(stored, request("GET", "https://a.example/x", "b"))
    #expect(german.decision == .forward)
    #expect(german.reasons.map(\.section.description) == ["RFC 9111 §4.1"])
    #expect(decide(nil, request("GET", "https://a.example/x")).decision == .unknown)
    var cached = request("GET", "https://a.example/x", "b")
    cached.fields.lines += Sample.fields("Cache-Control: only-if-cached").lines
    #expect(decide(stored, cached).decision == .gatewayTimeout)
  }

  @Test func `a partial body cannot be used`() {
    let fields = minute + ["Content-Length: 10"]
    #expect(reuse(fields, bodyBytes: 10) == "use-stored: fresh(seconds: 60)")
    #expect(reuse(fields, bodyBytes: nil) == "use-stored: fresh(seconds: 60)")
    #expect(
      reuse(fields, bodyBytes: 9)
        == "validate: incomplete(HTTPCaching.StoredBody.start(bytes: 9))")
    #expect(
      reuse(fields, bodyBytes: 0) == "validate: incomplete(HTTPCaching.StoredBody.fragment)")
    // Content-Length is the length of the coded body.
    #expect(
      reuse(fields + ["Content-Encoding: gzip"], bodyBytes: 9)
        == "use-stored: fresh(seconds: 60)")
    let head = Reuse(
      of: Sample.response("Cache-Control: max-age=60", "Content-Length: 10", bodyBytes: 9),
      for: Request(method: Request.head), at: now)
    #expect(head.decision == .useStored)
  }

  @Test func `a request directive never makes a used response older than it allows`() {
    for seed in 0..<5_000 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let limit = Int64.random(in: 0..<100, using: &generator)
      let age = Int64.random(in: 0..<200, using: &generator)
      let directives = ["max-age=\(limit)", "min-fresh=\(limit)", "max-stale=\(limit)"]
        .filter { _ in Bool.random(using: &generator) }.joined(separator: ", ")
      let exchange = Sample.response("Cache-Control: max-age=100, stale-while-revalidate=50")
      let request = Sample.request("Cache-Control: \(directives)")
      let reuse = Reuse(of: exchange, for: request, at: now + age)
      guard reuse.isReusable else { continue }
      if directives.contains("max-age") { #expect(age <= limit, "seed \(seed)") }
      if directives.contains("min-fresh") { #expect(100 - age >= limit, "seed \(seed)") }
      if age >= 100 {
        #expect(
          directives.contains("max-stale") && age - 100 <= limit
            || !directives.contains("max-age") && age < 150, "seed \(seed)")
      }
    }
  }
}
