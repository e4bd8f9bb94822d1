import Administration
import Bytes
import ResponseStorage
import Testing

@Suite struct ResponseFreshnessTests {
  /// 2025-10-09T09:10:07Z, when all responses in these tests were stored.
  private let stored: Timestamp

  init() throws {
    stored = try #require(Timestamp(secondsSince1970: 1_760_001_007))
  }

  @Test(
    arguments: [
      ("Cache-Control: max-age=60", 0, .fresh, 60), ("Cache-Control: max-age=60", 59, .fresh, 1),
      ("Cache-Control: max-age=60", 60, .stale, 0), ("Cache-Control: max-age=60", 100, .stale, -40),
      ("Cache-Control: max-age=0", 0, .stale, 0), ("Cache-Control: max-age=x", 5, .stale, -5),
      ("Expires: 0", 5, .stale, -5), ("Expires: Thu, 09 Oct 2025 09:10:17 GMT", 3, .fresh, 7),
      ("Last-Modified: Thu, 09 Oct 2025 09:08:27 GMT", 3, .fresh, 7),
      ("ETag: \"a\"", 0, .noLifetime, nil), ("Cache-Control: no-cache", 0, .noLifetime, nil),
    ] as [(String, Double, ResponseFreshness.State, Int64?)])
  func `a response is fresh while its lifetime is greater than its age`(
    _ line: String, _ later: Double, _ state: ResponseFreshness.State, _ remaining: Int64?
  ) throws {
    let found = try #require(try freshness([line], later: later))
    #expect(found.state == state)
    #expect(found.remainingSeconds == remaining)
    #expect((found.lifetimeSeconds == nil) == (state == .noLifetime))
    let end = try remaining.map { remaining in
      try #require(Timestamp(secondsSince1970: stored.secondsSince1970 + later + Double(remaining)))
    }
    #expect(found.expiresAt == end)
  }

  @Test func `missing information makes freshness unknown`() throws {
    var response = response(["Cache-Control: max-age=60"])
    response.stored = nil
    #expect(ResponseFreshness(of: response, at: stored) == nil)
    response = self.response([])
    #expect(ResponseFreshness(of: response, at: stored)?.state == .noLifetime)
    response.responseHeaders = nil
    #expect(ResponseFreshness(of: response, at: stored) == nil)
  }

  @Test func `a lifetime that goes beyond the calendar has no end`() throws {
    let found = try #require(
      try freshness(["Expires: Fri, 31 Dec 9999 23:59:59 GMT", "Age: 99999999999"], later: 0))
    #expect(found.expiresAt != nil)
    var old = response(["Expires: Fri, 31 Dec 9999 23:59:59 GMT"])
    old.stored = Timestamp(secondsSince1970: 253_402_300_799)
    old.responseHeaders?.fields.append(.init(name: "Cache-Control", value: "max-age=9999999999"))
    let far = try #require(ResponseFreshness(of: old, at: stored))
    #expect(far.state == .fresh)
    #expect(far.expiresAt == nil)
  }

  @Test(
    arguments: [
      ([], [.none]), (["ETag: \"a\""], [.strong, .entityTag]),
      (["ETag: W/\"a\""], [.weak, .entityTag]), (["ETag: bare"], [.weak, .entityTag]),
      (["Last-Modified: Thu, 09 Oct 2025 09:00:00 GMT"], [.weak, .lastModified]),
      (
        [
          "Last-Modified: Thu, 09 Oct 2025 09:00:00 GMT", "Date: Thu, 09 Oct 2025 09:01:00 GMT",
        ], [.strong, .lastModified]
      ),
      (
        ["Last-Modified: Thu, 09 Oct 2025 09:00:00 GMT", "ETag: W/\"a\""],
        [.weak, .entityTag, .lastModified]
      ),
      (["Last-Modified: yesterday"], [.none]),
    ] as [([String], Set<ResponseFreshness.ValidatorKind>)])
  func `validators are classified`(
    _ lines: [String], _ kinds: Set<ResponseFreshness.ValidatorKind>
  ) throws {
    let found = try #require(try freshness(lines, later: 0))
    #expect(Set(ResponseFreshness.ValidatorKind.allCases.filter { found.has($0) }) == kinds)
  }

  @Test func `a response that expires soon is fresh now`() throws {
    let line = "Cache-Control: max-age=60"
    for (later, seconds, expires) in [
      (0, 60, true), (0, 59.5, false), (50, 10, true), (59, 1, true), (60, 100, false),
    ] as [(Double, Double, Bool)] {
      #expect(
        try freshness([line], later: later)?.expires(within: seconds) == expires, "\(later)")
    }
    #expect(try freshness([], later: 0)?.expires(within: 1e12) == false)
  }

  private func freshness(_ lines: [String], later: Double) throws -> ResponseFreshness? {
    let now = try #require(Timestamp(secondsSince1970: stored.secondsSince1970 + later))
    return ResponseFreshness(of: response(lines), at: now)
  }

  private func response(_ lines: [String]) -> StoredResponse {
    var response = StoredResponse(id: .row(1))
    response.status = 200
    response.stored = stored
    response.responseHeaders = HeaderFields(
      lines.map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        return .init(name: ByteString(parts[0]), value: ByteString(parts[1].dropFirst()))
      })
    return response
  }
}
