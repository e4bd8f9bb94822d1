import HTTPCaching
import Testing

@Suite struct ConditionalRequestTests {
  /// Returns the purpose and the added lines.
  private func conditions(
    _ lines: String..., status: Int64? = 200, bodyBytes: Int64? = nil, method: String = "GET"
  ) -> [String] {
    let exchange = Exchange(
      request: Request(), status: status, fields: Sample.fields(lines),
      responseTime: Sample.now, bodyBytes: bodyBytes)
    let request = ConditionalRequest(
      validating: exchange, for: Request(method: bytes(method)))
    #expect(request.request.fields.lines == request.conditions)
    return [request.purpose.rawValue]
      + request.conditions.map { "\(text($0.name)): \(text($0.value))" }
  }

  private let modified = "Last-Modified: Wed, 08 Oct 2025 10:00:00 GMT"

  @Test func `both validators are sent, verbatim`() {
    #expect(
      conditions("ETag: W/\"v42\"", modified) == [
        "validation", "If-None-Match: W/\"v42\"",
        "If-Modified-Since: Wed, 08 Oct 2025 10:00:00 GMT",
      ])
    #expect(conditions("ETag: \"a, b\"") == ["validation", "If-None-Match: \"a, b\""])
    #expect(conditions("ETag: bare") == ["validation", "If-None-Match: bare"])
    #expect(
      conditions("Last-Modified: Sun Nov  6 08:49:37 1994")
        == ["validation", "If-Modified-Since: Sun Nov  6 08:49:37 1994"])
    #expect(conditions("ETag: \"a\"", method: "HEAD") == ["validation", "If-None-Match: \"a\""])
  }

  @Test func `no validator is invented`() {
    #expect(conditions("Date: \(Sample.date())", "Expires: \(Sample.date())") == ["replacement"])
    #expect(conditions("Last-Modified: yesterday") == ["replacement"])
    #expect(conditions("ETag: ") == ["replacement"])
  }

  @Test func `a body is completed with a strong validator only`() {
    let (length, date) = ("Content-Length: 10", "Date: \(Sample.date())")
    let replacement = ["replacement"]
    #expect(
      conditions(length, "ETag: \"a\"", modified, date, bodyBytes: 4)
        == ["completion", "Range: bytes=4-", "If-Range: \"a\""])
    #expect(
      conditions(length, modified, date, bodyBytes: 4)
        == ["completion", "Range: bytes=4-", "If-Range: Wed, 08 Oct 2025 10:00:00 GMT"])
    #expect(conditions(length, "ETag: W/\"a\"", date, bodyBytes: 4) == replacement)
    // A client with an entity tag must not send a date (RFC 9110 §13.1.5).
    #expect(conditions(length, "ETag: W/\"a\"", modified, date, bodyBytes: 4) == replacement)
    #expect(conditions(length, "ETag: a", modified, date, bodyBytes: 4) == replacement)
    #expect(conditions(length, modified, bodyBytes: 4) == replacement)
    #expect(conditions(length, "ETag: \"a\"", bodyBytes: 0) == replacement)
    #expect(
      conditions(length, "ETag: \"a\"", bodyBytes: 4, method: "HEAD")
        == ["validation", "If-None-Match: \"a\""])
  }

  @Test func `a 206 is completed if it contains the start`() {
    for (range, bodyBytes, expected) in [
      ("bytes 0-499/1234", 500, StoredBody.start(bytes: 500)),
      ("bytes 0-499/1234", nil, .start(bytes: 500)), ("bytes 0-499/*", 500, .start(bytes: 500)),
      ("bytes 0-499/1234", 100, .start(bytes: 100)), ("bytes 0-499/1234", 0, .fragment),
      ("bytes 0-1233/1234", 1_234, .complete), ("bytes 0-1233/1234", 9, .start(bytes: 9)),
      ("Bytes 0-499/1234", 500, .start(bytes: 500)), ("bytes 1-499/1234", 499, .fragment),
      ("bytes */1234", 1, .fragment), ("bytes 0-/1234", 1, .fragment), ("bytes 0-9", 1, .fragment),
      ("lines 0-9/10", 10, .fragment), ("", 1, .fragment), ("bytes 0-9/10/11", 1, .fragment),
      ("bytes 0-99999999999999999999/*", 9, .fragment),
      ("bytes 0-9223372036854775807/*", 9, .start(bytes: 9)),
    ] as [(String, Int64?, StoredBody)] {
      let exchange = Sample.response(
        "Content-Range: \(range)", status: 206, bodyBytes: bodyBytes)
      #expect(StoredBody(of: exchange) == expected, "\(range)")
    }
    #expect(StoredBody(of: Sample.response(status: 206, bodyBytes: 9)) == .fragment)
  }

  @Test func `a hostile length is ignored`() {
    for (length, expected) in [
      ("99999999999999999999", StoredBody.complete), ("-1", .complete), ("x", .complete),
      ("", .complete), ("10, 10", .complete),
      ("9223372036854775807", .start(bytes: 5)),
    ] {
      let exchange = Sample.response("Content-Length: \(length)", bodyBytes: 5)
      #expect(StoredBody(of: exchange) == expected, "\(length)")
    }
    for status in [204, 304, nil] as [Int64?] {
      let exchange = Sample.response("Content-Length: 9", status: status, bodyBytes: 0)
      #expect(StoredBody(of: exchange) == .complete)
    }
  }

  @Test func `the conditions of the presented request are replaced`() {
    let presented = Request(
      method: Request.get, targetURI: bytes("https://a.example/"),
      fields: Sample.fields(
        "Accept: a", "If-None-Match: \"other\"", "if-modified-since: x", "Cookie: c",
        "Range: bytes=9-", "If-Range: \"other\""))
    let request = ConditionalRequest(
      validating: Sample.response("ETag: \"a\""), for: presented
    ).request
    #expect(request.targetURI == presented.targetURI)
    #expect(
      request.fields == Sample.fields("Accept: a", "Cookie: c", "If-None-Match: \"a\""))
  }

  @Test func `without a presented request, only fields in Vary are sent`() {
    let stored = Request(
      method: Request.get, targetURI: bytes("https://a.example/"),
      fields: Sample.fields("Accept: a", "Authorization: secret", "accept: b"))
    let request = ConditionalRequest(
      validating: Sample.response("ETag: \"a\"", "Vary: Accept, Via", request: stored), for: nil
    ).request
    #expect(request.targetURI == stored.targetURI)
    #expect(
      request.fields == Sample.fields("Accept: a", "accept: b", "If-None-Match: \"a\""))
    let bare = ConditionalRequest(validating: Sample.response(request: nil), for: nil)
    #expect(bare.request == Request())
  }
}
