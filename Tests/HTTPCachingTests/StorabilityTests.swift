import HTTPCaching
import Testing

@Suite struct StorabilityTests {
  private func reason(
    _ lines: String..., status: Int64? = 200, request: Request? = Request()
  ) -> Storability.Reason {
    let storability = Storability(
      of: Exchange(
        request: request, status: status, fields: Sample.fields(lines), responseTime: Sample.now))
    return storability.reason
  }

  @Test func `reasons that permit storing`() {
    #expect(reason() == .status)
    #expect(reason("Cache-Control: public", status: 302) == .isPublic)
    #expect(reason("Cache-Control: private", status: 302) == .isPrivate)
    #expect(reason("Cache-Control: private=\"a\"", status: 302) == .isPrivate)
    #expect(reason("Expires: 0", status: 302) == .expires)
    #expect(reason("Cache-Control: max-age=0", status: 302) == .maxAge)
    #expect(reason("Cache-Control: s-maxage=9", status: 302) == .notPermitted)
    #expect(reason("ETag: \"a\"", status: 302) == .notPermitted)
    #expect(reason("Cache-Control: max-age=9", status: 599) == .maxAge)
    #expect(reason("Cache-Control: no-cache, must-revalidate") == .status)
    #expect(reason(request: Request(method: Request.head)) == .status)
    #expect(reason(request: nil) == .status)
    // Authorization only restricts shared caches.
    #expect(reason(request: Sample.request("Authorization: Basic eDp5")) == .status)
    #expect(reason("Cache-Control: max-age=9", status: 206) == .maxAge)
  }

  @Test func `reasons that forbid storing`() {
    let fresh = "Cache-Control: max-age=9"
    #expect(reason(fresh, request: Request(method: bytes("PUT"))) == .methodNotUnderstood)
    #expect(reason(fresh, request: Request(method: bytes("get"))) == .methodNotUnderstood)
    #expect(reason(fresh, status: nil) == .unknownStatus)
    #expect(reason(fresh, status: 103) == .interimStatus)
    #expect(reason(fresh, status: 304) == .notModified)
    #expect(reason(fresh, "Cache-Control: no-store") == .responseNoStore)
    #expect(reason(fresh, request: Sample.request("Cache-Control: no-store")) == .requestNoStore)
    #expect(reason("Cache-Control: must-understand", status: 599) == .statusNotUnderstood)
  }

  @Test func `must-understand overrides no-store for an understood status`() {
    let exchange = Sample.response("Cache-Control: max-age=9, must-understand, no-store")
    let storability = Storability(of: exchange)
    #expect(storability.reason == .maxAge)
    #expect(storability.mayStore)
    #expect(storability.fieldFindings.map(\.kind) == [.noStoreVoid])
    #expect(
      reason("Cache-Control: max-age=9, must-understand, no-store", status: 599)
        == .statusNotUnderstood)
  }

  @Test func `a response to POST needs a lifetime and a matching Content-Location`() {
    let post = Request(method: Request.post, targetURI: bytes("https://a.example/x"))
    let location = "Content-Location: https://a.example/x"
    #expect(reason("Cache-Control: max-age=9", location, request: post) == .maxAge)
    #expect(reason("Expires: \(Sample.date(9))", location, request: post) == .expires)
    #expect(reason("Cache-Control: max-age=9", request: post) == .postWithoutLocation)
    #expect(
      reason("Cache-Control: max-age=9", "Content-Location: /x", request: post)
        == .postWithoutLocation)
    #expect(reason(location, request: post) == .postWithoutLocation)
    #expect(
      reason("Cache-Control: max-age=x", "Expires: \(Sample.date(9))", location, request: post)
        == .postWithoutLocation)
  }

  @Test func `the verdict follows from the reason`() {
    let permitting: Set<Storability.Reason> = [.isPublic, .isPrivate, .expires, .maxAge, .status]
    var seen: Set<Storability.Reason> = []
    for seed in 0..<2_000 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let lines = ["no-store", "must-understand", "public", "private", "max-age=5"]
        .filter { _ in Bool.random(using: &generator) }.map { "Cache-Control: \($0)" }
      let statuses: [Int64?] = [200, 206, 302, 304, 103, 599, nil]
      let requests = [
        Request(), Request(method: Request.post), Request(method: bytes("PUT")),
        Sample.request("Cache-Control: no-store"),
      ]
      let storability = Storability(
        of: Exchange(
          request: requests.randomElement(using: &generator),
          status: statuses.randomElement(using: &generator) ?? nil, fields: Sample.fields(lines),
          responseTime: Sample.now))
      seen.insert(storability.reason)
      #expect(storability.mayStore == permitting.contains(storability.reason), "seed \(seed)")
      #expect(storability.reason.section.rfc >= 9110)
    }
    #expect(seen == Set(Storability.Reason.allCases).subtracting([.expires]))
  }
}
