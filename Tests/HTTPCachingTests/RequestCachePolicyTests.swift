import HTTPCaching
import Testing

@Suite struct RequestCachePolicyTests {
  @Test func `the raw values match Apple's`() {
    #expect(
      RequestCachePolicy.names.map { "\($0.policy.rawValue) \($0.name)" } == [
        "0 useProtocolCachePolicy", "1 reloadIgnoringLocalCacheData", "1 reloadIgnoringCacheData",
        "4 reloadIgnoringLocalAndRemoteCacheData", "2 returnCacheDataElseLoad",
        "3 returnCacheDataDontLoad", "5 reloadRevalidatingCacheData",
      ])
    #expect(RequestCachePolicy.allCases.map(\.rawValue) == [0, 1, 4, 2, 3, 5])
    for (name, policy) in RequestCachePolicy.names {
      #expect(RequestCachePolicy(name: name) == policy)
      #expect(RequestCachePolicy(rawValue: policy.rawValue) == policy)
    }
    let spellings = [
      "NSURLRequestReloadIgnoringCacheData", "ReloadIgnoringCacheData", "RELOADIGNORINGCACHEDATA",
      ".reloadIgnoringCacheData", "URLRequest.CachePolicy.reloadIgnoringCacheData",
      "NSURLRequest.CachePolicy.reloadIgnoringLocalCacheData",
    ]
    for name in spellings {
      #expect(RequestCachePolicy(name: name) == .reloadIgnoringLocalCacheData, "\(name)")
    }
    for name in ["default", "", ".", "NSURLRequest", "..useProtocolCachePolicy"] {
      #expect(RequestCachePolicy(name: name) == nil, "\(name)")
    }
    #expect(RequestCachePolicy(rawValue: 6) == nil)
    #expect(RequestCachePolicy(rawValue: -1) == nil)
  }

  /// Returns the outcomes in the order of the policies.
  private func outcomes(_ exchange: Exchange?, _ request: Request = Request()) -> String {
    let reuse = exchange.map { Reuse(of: $0, for: request, at: Sample.now) }
    let conditional = exchange.map { ConditionalRequest(validating: $0, for: request) }
    return RequestCachePolicy.allCases
      .map { $0.outcome(reuse, conditional).rawValue }.joined(separator: " ")
  }

  @Test func `each policy has its outcome`() {
    let fresh = "Cache-Control: max-age=60"
    let tag = "ETag: \"a\""
    //                                       0           1    4    2     3     5
    #expect(outcomes(nil) == "load load load load error load")
    #expect(
      outcomes(Sample.response(fresh, tag)) == "cache load load cache cache conditional")
    #expect(outcomes(Sample.response(fresh)) == "cache load load cache cache load")
    #expect(
      outcomes(Sample.response(tag)) == "conditional load load cache cache conditional")
    #expect(outcomes(Sample.response()) == "load load load cache cache load")
    #expect(
      outcomes(Sample.response(fresh, tag, "Cache-Control: no-cache"))
        == "conditional load load cache cache conditional")
    #expect(
      outcomes(Sample.response("Cache-Control: max-age=0, stale-while-revalidate=9", tag))
        == "cache load load cache cache conditional")
  }

  @Test func `a response to a different request counts as missing`() {
    let request = Sample.request("Accept: b")
    let stored = Sample.response(
      "Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept",
      request: Sample.request("Accept: a"))
    #expect(outcomes(stored, request) == "load load load load error load")
    let unknown = Sample.response(
      "Cache-Control: max-age=60", "ETag: \"a\"", "Vary: Accept", request: nil)
    #expect(outcomes(unknown, request) == "unknown load load unknown unknown unknown")
  }

  @Test func `a partial body counts as missing, but can be completed`() {
    let stored = Sample.response(
      "Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 9", bodyBytes: 5)
    #expect(outcomes(stored) == "conditional load load load error conditional")
  }

  @Test func `a request that forbids the network gets an error from the protocol`() {
    let request = Sample.request("Cache-Control: only-if-cached")
    #expect(
      outcomes(Sample.response("ETag: \"a\""), request)
        == "error load load cache cache conditional")
  }

  @Test func `one policy also bypasses intermediate caches`() {
    #expect(
      RequestCachePolicy.allCases.filter { !$0.addedLines.isEmpty }
        == [.reloadIgnoringLocalAndRemoteCacheData])
    #expect(
      RequestCachePolicy.reloadIgnoringLocalAndRemoteCacheData.addedLines
        == Sample.fields("Cache-Control: no-cache").lines)
  }
}
