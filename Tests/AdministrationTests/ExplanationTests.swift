import Administration
import Bytes
import HTTPCaching
import ResponseStorage
import Testing

@Suite struct ExplanationTests {
  private static let lifetime = "Cache-Control: max-age=60"

  @Test func `missing header fields or times make freshness unknown`() throws {
    var response = try stored([Self.lifetime])
    response.responseHeaders = nil
    var explanation = Explanation(of: response, asking: try inquiry(later: 0))
    #expect(explanation.state == nil)
    #expect(explanation.reasons == [.undecodable])
    #expect(explanation.outcome == .unknown)
    #expect(!explanation.isReusable)
    response = try stored([Self.lifetime])
    response.stored = nil
    explanation = Explanation(of: response, asking: try inquiry(later: 0))
    #expect(explanation.details == nil)
    #expect(explanation.freshness == nil)
  }

  @Test(
    arguments: [
      (59, .fresh, .cache, .conditional), (60, .stale, .conditional, .conditional),
      (10_000, .stale, .conditional, .conditional),
    ]
      as [(
        Double, ResponseFreshness.State, RequestCachePolicy.Outcome, RequestCachePolicy.Outcome
      )])
  func `the request policy decides the outcome`(
    _ later: Double, _ state: ResponseFreshness.State, _ byProtocol: RequestCachePolicy.Outcome,
    _ revalidating: RequestCachePolicy.Outcome
  ) throws {
    let explanation = Explanation(
      of: try stored([Self.lifetime, "ETag: \"a\""]), asking: try inquiry(later: later))
    #expect(explanation.state == state)
    #expect(explanation.outcome(of: .useProtocolCachePolicy) == byProtocol)
    #expect(explanation.outcome(of: .reloadRevalidatingCacheData) == revalidating)
    #expect(explanation.outcome(of: .returnCacheDataDontLoad) == .cache)
    #expect(explanation.outcome(of: .reloadIgnoringLocalAndRemoteCacheData) == .load)
  }

  @Test func `entries that the application expires count as missing`() throws {
    var response = try stored([Self.lifetime, "ETag: \"a\""])
    response.userInfo = [.init(key: "key", value: .date(try time(0)))]
    var inquiry = try inquiry(later: 30)
    inquiry.expiryRules = [.init(key: "key", seconds: 30)]
    #expect(Explanation(of: response, asking: inquiry).state == .fresh)
    inquiry.expiryRules = [.init(key: "key", seconds: 29)]
    let explanation = Explanation(of: response, asking: inquiry)
    #expect(explanation.state == .stale)
    #expect(explanation.outcome == .load)
    #expect(explanation.outcome(of: .returnCacheDataDontLoad) == .error)
    #expect(explanation.reasons.first?.code == "user-info-expiry")
    #expect(explanation.freshness?.expiresAtSeconds == 1_000_030)
  }

  @Test func `the Vary record takes precedence over the request fields`() throws {
    var response = try stored([Self.lifetime, "Vary: Accept, Cookie"])
    response.request.headers = HeaderFields([.init(name: "Accept", value: "a")])
    response.protocolProperties = [
      .init(
        key: "Accept, Cookie", value: .dictionary([.init(key: "Accept", value: .text("b"))]))
    ]
    var inquiry = try inquiry(later: 0)
    #expect(Explanation(of: response, asking: inquiry).isReusable)
    inquiry.fields = [line("accept", "a")]
    #expect(!Explanation(of: response, asking: inquiry).isReusable)
    inquiry.fields = [line("accept", "b")]
    #expect(Explanation(of: response, asking: inquiry).isReusable)
    inquiry.fields = [line("ACCEPT", "")]
    #expect(!Explanation(of: response, asking: inquiry).isReusable)
    response.protocolProperties = []
    inquiry.fields = [line("accept", "a")]
    #expect(Explanation(of: response, asking: inquiry).isReusable)
    response.request.headers = nil
    let explanation = Explanation(of: response, asking: inquiry)
    #expect(explanation.outcome == .unknown)
    // It is fresh, but it is unknown which requests it matches.
    #expect(explanation.state == .fresh)
  }

  @Test(
    arguments: [
      [], [lifetime], ["Expires: 0"], ["Cache-Control: max-age=x"], ["Cache-Control: no-cache"],
      ["Cache-Control: max-age=60, max-age=0"], ["Cache-Control: max-age=60", "Age: 1000"],
    ])
  func `an explanation agrees with other commands on freshness`(_ lines: [String]) throws {
    var response = try stored(lines)
    for later in [0, 59, 60, 61, 1e6] {
      for rule: Int64? in [nil, 0, 60, 1_000_000] {
        var inquiry = try inquiry(later: later)
        response.userInfo = rule.map { _ in [.init(key: "key", value: .date(inquiry.now))] } ?? []
        inquiry.expiryRules = rule.map { [.init(key: "key", seconds: $0)] } ?? []
        inquiry.now = try time(later + 1)
        let expected = ResponseFreshness(
          of: response, at: inquiry.now, rules: inquiry.expiryRules)
        #expect(Explanation(of: response, asking: inquiry).freshness == expected)
      }
    }
    let state = Explanation(of: try stored([]), asking: try inquiry(later: 1)).state
    #expect(state == .noLifetime)
  }

  @Test func `the next request follows the request policy`() throws {
    let response = try stored([Self.lifetime, "ETag: \"a\""])
    var inquiry = try inquiry(later: 100)
    inquiry.fields = [line("Accept", "b")]
    var explanation = Explanation(of: response, asking: inquiry)
    #expect(
      explanation.nextRequest?.fields.lines == [
        line("Accept", "b"), line("If-None-Match", "\"a\""),
      ])
    inquiry.policy = .reloadIgnoringLocalAndRemoteCacheData
    explanation = Explanation(of: response, asking: inquiry)
    #expect(
      explanation.nextRequest?.fields.lines
        == [line("Accept", "b"), line("Cache-Control", "no-cache")])
    inquiry.policy = .returnCacheDataElseLoad
    #expect(Explanation(of: response, asking: inquiry).nextRequest == nil)
    inquiry.policy = .reloadIgnoringLocalAndRemoteCacheData
    inquiry.platform = .foundation
    explanation = Explanation(of: response, asking: inquiry)
    #expect(explanation.nextRequest?.fields.lines == [line("Accept", "b")])
  }

  @Test(
    arguments: [
      (["Cache-Control: max-age=60"], 59, nil), (["Cache-Control: max-age=60"], 60, .maxAge),
      (["Cache-Control: Max-Age=\"60\" "], 60, .maxAge), (["Cache-Control: max-age=+60"], 59, nil),
      (["Cache-Control: max-age=10, max-age=90"], 60, nil),
      (["Cache-Control: max-age=10", "Cache-Control: max-age=90"], 60, nil),
      (["Cache-Control: max-age=x"], 1e9, nil), (["Cache-Control: s-maxage=1"], 1e9, nil),
      (["Cache-Control: max-age=99999999999999999999"], 1e9, nil), ([], 1e9, nil),
      (["Expires: Fri, 31 Dec 9999 23:59:59 GMT"], 0, .expires),
      (["Expires: 0", "Cache-Control: s-maxage=9"], 50, nil),
      (["Cache-Control: no-cache, max-age=60"], 0, .noCache),
      (["Cache-Control: max-age=60,NO-STORE"], 0, .noStore),
      (["Cache-Control: no-cache=\"a\""], 0, nil), (["Vary: Accept"], 0, .vary),
      (["WWW-Authenticate: Basic"], 0, .challenge), (["Age: 1000", lifetime], 0, nil),
      (["Cache-Control: x=\"max-age=5, y\""], 100, nil),
    ] as [([String], Double, FoundationReuse.Refusal?)])
  func `Foundation has different rules`(
    _ lines: [String], _ later: Double, _ refusal: FoundationReuse.Refusal?
  ) throws {
    let exchange = try #require(Exchange(of: try stored(lines)))
    let now = try time(later).wholeSeconds
    let found = FoundationReuse(of: exchange, for: Request(), at: now)
    #expect(found.refusal == refusal)
    let post = FoundationReuse(of: exchange, for: Request(method: Request.post), at: now)
    #expect(post.refusal == (refusal == .challenge ? .challenge : .method))
    let fields = FieldSection([line("authorization", "x")])
    let authorized = FoundationReuse(of: exchange, for: Request(fields: fields), at: now)
    #expect(authorized.refusal == (refusal == .challenge ? .challenge : .authorization))
  }

  private func line(_ name: String, _ value: String) -> FieldLine {
    FieldLine(name: Array(name.utf8), value: Array(value.utf8))
  }

  private func time(_ later: Double) throws -> Timestamp {
    try #require(Timestamp(secondsSince1970: 1_000_000 + later))
  }

  private func inquiry(later: Double) throws -> Inquiry {
    Inquiry(now: try time(later), platform: .apple)
  }

  private func stored(_ lines: [String]) throws -> StoredResponse {
    var response = StoredResponse(id: .row(1))
    response.url = "https://a.example/"
    response.status = 200
    response.stored = try time(0)
    response.request.method = "GET"
    response.request.headers = HeaderFields()
    response.responseHeaders = HeaderFields(
      lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return .init(name: ByteString(parts[0]), value: ByteString(parts[1].dropFirst()))
      })
    return response
  }
}
