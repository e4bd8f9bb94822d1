import HTTPCaching
import Testing

@Suite struct FresheningTests {
  private let now = Sample.now

  private func notModified(_ lines: String...) -> NotModified {
    NotModified(
      fields: Sample.fields(lines), requestTime: now + 98, responseTime: now + 100)
  }

  @Test func `a 304 applies to a response with the same validator`() {
    let modified = "Last-Modified: \(Sample.date(-9))"
    let other = "Last-Modified: \(Sample.date(-8))"
    for (stored, response, expected) in [
      (["ETag: \"a\""], ["ETag: \"a\""], NotModified.Selection.sameStrongTag),
      (["ETag: W/\"a\""], ["ETag: \"a\""], .otherStrongTag),
      (["ETag: \"b\"", modified], ["ETag: \"a\"", modified], .otherStrongTag),
      ([modified], ["ETag: \"a\"", modified], .otherStrongTag),
      (["ETag: \"a\""], ["ETag: W/\"a\""], .sameWeakTag),
      (["ETag: W/\"a\""], ["ETag: W/\"a\""], .sameWeakTag),
      (["ETag: W/\"a\""], ["ETag: W/\"b\""], .otherWeakValidator),
      (["ETag: bare"], ["ETag: bare"], .sameWeakTag),
      ([modified], [modified], .sameLastModified), ([modified], [other], .otherWeakValidator),
      (["ETag: \"a\"", modified], [modified], .sameLastModified),
      (["ETag: \"a\""], [modified], .otherWeakValidator),
      (["ETag: \"a\""], [], .ambiguous), ([modified], ["Date: x"], .ambiguous),
      ([], [], .noValidators), ([], ["Last-Modified: x"], .noValidators),
    ] {
      let exchange = Exchange(status: 200, fields: Sample.fields(stored), responseTime: now)
      let response = NotModified(
        fields: Sample.fields(response), requestTime: now, responseTime: now)
      let selection = response.selection(of: exchange)
      #expect(selection == expected, "\(stored) and \(response)")
    }
    #expect(notModified().selection(of: Sample.response(), isOnlyOne: false) == .ambiguous)
    #expect(NotModified.Selection.allCases.filter(\.mayUpdate).count == 4)
  }

  @Test func `each field replaces all lines of its name, and others are kept`() {
    let stored = Sample.response(
      "Date: \(Sample.date())", "Cache-Control: max-age=60", "X-A: 1", "ETag: \"a\"",
      "cache-control: public", "X-B: 2", "Age: 30", bodyBytes: 7)
    let freshening = Freshening(
      stored,
      by: notModified(
        "Date: \(Sample.date(100))", "ETag: \"a\"", "CACHE-CONTROL: max-age=600", "X-C: 3",
        "X-C: 4"))
    #expect(
      freshening.exchange.fields
        == Sample.fields(
          "Date: \(Sample.date(100))", "CACHE-CONTROL: max-age=600", "X-A: 1", "ETag: \"a\"",
          "X-B: 2", "X-C: 3", "X-C: 4"))
    #expect(
      freshening.changes.map { "\(text($0.name.lowercased)) \($0.change)" } == [
        "date replaced", "etag same", "cache-control replaced", "x-c added", "age removed",
      ])
    #expect(freshening.exchange.status == 200)
    #expect(freshening.exchange.request == stored.request)
    #expect(freshening.exchange.bodyBytes == 7)
    #expect(freshening.exchange.requestTime == now + 98)
    #expect(freshening.exchange.responseTime == now + 100)
    let freshness = Freshness(of: freshening.exchange, at: now + 100)
    #expect(freshness.age.seconds == 2)
    #expect(freshness.remainingSeconds == 598)
  }

  @Test func `connection, proxy and body fields are kept`() {
    let stored = Sample.response(
      "Content-Length: 10", "Content-Type: a/b", "Content-Encoding: gzip", "Connection: close",
      "X-Hop: old", "Set-Cookie: old", "Content-Language: de")
    let response = notModified(
      "Content-Length: 0", "Content-Type: c/d", "content-encoding: br",
      "Content-Range: bytes 0-1/2",
      "Connection: X-Hop, Keep-Alive", "X-Hop: new", "Keep-Alive: 5", "TE: x", "Trailer: x",
      "Transfer-Encoding: chunked", "Upgrade: x", "Proxy-Connection: x", "Proxy-Authenticate: x",
      "Proxy-Authentication-Info: x", "Proxy-Authorization: x", "Set-Cookie: new",
      "Cache-Control: no-cache=\"set-cookie\"", "Content-Language: en")
    let decoded = Freshening(stored, by: response)
    #expect(
      decoded.exchange.fields
        == Sample.fields(
          "Content-Length: 10", "Content-Type: a/b", "Content-Encoding: gzip",
          "Connection: close", "X-Hop: old", "Set-Cookie: old", "Content-Language: en",
          "Cache-Control: no-cache=\"set-cookie\""))
    let exempt = decoded.changes.compactMap {
      if case .exempt(let exemption) = $0.change { exemption } else { nil }
    }
    #expect(
      exempt == [.contentLength, .decodedBody, .decodedBody, .decodedBody]
        + Array(repeating: .connection, count: 8) + [.proxy, .proxy, .proxy, .noCache])
    let coded = Freshening(stored, by: response, bodyIsDecoded: false).exchange.fields
    #expect(coded.values(of: .contentEncoding) == [bytes("br")])
    #expect(coded.values(of: "Content-Type") == [bytes("c/d")])
    #expect(coded.values(of: .contentRange) == [bytes("bytes 0-1/2")])
    #expect(coded.values(of: .contentLength) == [bytes("10")])
  }

  @Test func `a stored no-cache withholds fields unless the 304 has other directives`() {
    let stored = Sample.response("Set-Cookie: old", "Cache-Control: no-cache=\"set-cookie\"")
    let silent = Freshening(stored, by: notModified("Set-Cookie: new"))
    #expect(silent.exchange.fields.firstValue(of: "Set-Cookie") == bytes("old"))
    let other = Freshening(
      stored, by: notModified("Set-Cookie: new", "Cache-Control: max-age=1"))
    #expect(other.exchange.fields.firstValue(of: "Set-Cookie") == bytes("new"))
  }

  @Test func `updating twice equals updating once`() {
    let names = ["A", "B", "Age", "Date", "Connection", "Content-Length", "ETag", "Cache-Control"]
    for seed in 0..<1_000 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      func lines() -> [String] {
        (0..<8).compactMap { _ in
          names.randomElement(using: &generator).map {
            "\($0): \(UInt8.random(in: 0...9, using: &generator))"
          }
        }
      }
      let stored = Exchange(status: 200, fields: Sample.fields(lines()), responseTime: now)
      let response = NotModified(
        fields: Sample.fields(lines()), requestTime: now, responseTime: now)
      let once = Freshening(stored, by: response).exchange
      #expect(Freshening(once, by: response).exchange == once, "seed \(seed)")
      // Fields that are not in the 304 keep their values.
      for name in names where !response.fields.contains(FieldName(name.utf8)) && name != "Age" {
        let name = FieldName(name.utf8)
        #expect(once.fields.values(of: name) == stored.fields.values(of: name), "seed \(seed)")
      }
    }
  }
}
