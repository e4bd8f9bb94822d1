import Bytes
import ResponseStorage
import Secrets
import Testing

@Suite struct RedactionTests {
  @Test(
    arguments: [
      ("https://u:p@a.example/x@y", "https://a.example/x@y"),
      ("https://a@b@c.example", "https://c.example"), ("mailto:a@b.example", "mailto:a@b.example"),
      ("https://a.example/?token=1", "https://a.example/?token=1"),
      (
        "https://a.example/?sig=1&b=2&SIG=3#sig=1",
        "https://a.example/?sig=REDACTED-1&b=2&SIG=REDACTED-2#sig=REDACTED-1"
      ),
      ("/next?%73ig=1&sig=", "/next?%73ig=REDACTED-1&sig="),
      ("https://a.example/?design=1&sig", "https://a.example/?design=1&sig"),
    ] as [(ByteString, ByteString)])
  func `URLs lose user information and the values of named parameters`(
    url: ByteString, rest: ByteString
  ) {
    var filter = CredentialFilter()
    filter.queryNames = ["sig"]
    #expect(Redaction(filter).url(url) == rest)
  }

  @Test(
    arguments: [
      ("see //u@h/ and https://v@i/", "see //REDACTED-1@h/ and https://REDACTED-2@i/"),
      ("<a?sig=1>; rel=x", "<a?sig=REDACTED-1>; rel=x"),
      (
        "<https://a/?token=1>; rel=next, <https://b/?token=2&x=3>",
        "<https://a/?token=REDACTED-1>; rel=next, <https://b/?token=REDACTED-2&x=3>"
      ),
      (
        #"{"url":"https://a/?token=1","x":"y@z"}"#,
        #"{"url":"https://a/?token=REDACTED-1","x":"y@z"}"#
      ),
      ("/to?token=a\"b c", "/to?token=REDACTED-1"),
      ("/to?x=\"&token=a\"b", "/to?x=\"&token=REDACTED-1"),
    ] as [(ByteString, ByteString)])
  func `secrets in URLs are removed from text, and the rest is kept`(
    text: ByteString, rest: ByteString
  ) {
    #expect(Redaction(.all).url(text, as: .text) == rest)
  }

  @Test(
    arguments: [
      "https://u:p@h.example/a?b=c", "https://h/?token=a&x=1",
      "https://h/?x=1&ACCESS_TOKEN=a%26b;c#f",
      "https://h/#/in?id_token=a", "https://h/?q=eyJhbGciOi.J9", "https://h/a;jsessionid=12/b",
      "https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3Dx", "https://h/?next=https://u:p@g/",
      "https://h/?a=1?token=b", "https://h/?next=https%253A%252F%252Fg%252F%253Ftoken%253Dx",
      "https://h/?q={\"token\":\"x\"}", "https://h/eyJhbGciOiJIUzI1NiJ9.e30.c2ln/x",
      "https://h/?eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
    ] as [ByteString])
  func `masked values are replaced by numbers, and nothing else`(url: ByteString) {
    let masked = URLSecrets().replacing(in: url) { _ in "REDACTED-1" }
    #expect(masked != url)
    #expect(Redaction(.all).url(url) == masked)
  }

  @Test func `equal secrets have equal numbers, different ones different numbers`() {
    let redaction = Redaction(.all)
    #expect(redaction.url("https://h/?token=a") == "https://h/?token=REDACTED-1")
    #expect(redaction.url("https://h/?token=b") == "https://h/?token=REDACTED-2")
    #expect(redaction.url("https://a@h/?key=b") == "https://REDACTED-1@h/?key=REDACTED-2")
    #expect(redaction.tally.replacements == 2)
  }

  @Test func `keys that differ in their secrets stay different`() throws {
    let redaction = Redaction(.all)
    var keys: Set<ByteString> = []
    for (url, partition, body) in [
      ("https://h/?token=a", nil, nil), ("https://h/?token=b", nil, nil),
      ("https://x:y@h/?token=b", nil, nil),
      ("https://h/?token=a", "https://site", nil), ("https://h/?token=a", nil, "1"),
      ("https://h/?token=a", nil, "2"),
    ] as [(ByteString, ByteString?, String?)] {
      var response = try response()
      (response.url, response.request.url, response.partition) = (url, url, partition)
      var raw = response.raw(id: 3)
      if let body {
        response.request.method = "POST"
        raw = response.raw(id: 3)
        raw.columns = raw.columns.map { column in
          guard column.name == "request_key", case .text(let key) = column.value else {
            return column
          }
          return .init("request_key", .text(ByteString(key.bytes + body.utf8)))
        }
      }
      let (redacted, _) = try #require(redaction.redacted(raw))
      guard case .text(let key) = redacted.value(of: "request_key") else { continue }
      #expect(redacted.value(of: "hash_value") == .integer(CacheKeyHash(of: key).whenInserted))
      keys.insert(key)
    }
    #expect(
      keys.sorted() == [
        "https://REDACTED-3@h/?token=REDACTED-2", "https://h/?token=REDACTED-1",
        "https://h/?token=REDACTED-1REDACTED-4", "https://h/?token=REDACTED-1REDACTED-5",
        "https://h/?token=REDACTED-1[https://site]", "https://h/?token=REDACTED-2",
      ])
  }

  @Test func `a response without credentials does not change`() throws {
    let raw = try response().raw(id: 3)
    let redacted = try #require(Redaction(CredentialFilter()).redacted(raw))
    #expect(redacted.places == [])
    #expect(
      StoredResponse(decoding: redacted.0, .all) == StoredResponse(decoding: raw, .all))
  }

  @Test func `credentials are removed everywhere, and the places are reported`() throws {
    var response = try response()
    response.request.url = "https://u:p@a.example/"
    response.request.headers = HeaderFields([
      .init(name: "Accept", value: "*/*"), .init(name: "Cookie", value: "secret"),
    ])
    response.request.body = Array("secret".utf8)
    response.headers.fields += [
      .init(name: "Set-Cookie", value: "a"), .init(name: "Set-Cookie", value: "b"),
    ]
    response.userInfo = [.init(key: "token", value: .text("secret"))]
    let redacted = try #require(Redaction(CredentialFilter()).redacted(response.raw(id: 3)))
    #expect(
      redacted.places == [
        "key", "proto-props.headers.cookie", "request.body", "request.headers.cookie",
        "request.url", "response.headers.set-cookie", "user-info",
      ])
    var expected = StoredResponse(decoding: try self.response().raw(id: 3), .all)
    expected.notes = []
    #expect(StoredResponse(decoding: redacted.0, .all) == expected)
    #expect(
      redacted.0.value(of: "hash_value") == (try self.response()).raw(id: 3).value(of: "hash_value")
    )
  }

  @Test func `a response that cannot be decoded cannot be redacted`() throws {
    var raw = try response().raw(id: 3)
    raw.parts[0].content = Body(Array("bplist00 secret".utf8))
    #expect(Redaction(CredentialFilter()).redacted(raw).map(\.places) == nil)
  }

  private func response() throws -> NewResponse {
    NewResponse(
      url: "https://a.example/",
      requestHeaders: HeaderFields([.init(name: "Accept", value: "*/*")]),
      status: 200,
      headers: HeaderFields([
        .init(name: "Content-Type", value: "text/html"),
        .init(name: "Vary", value: "Accept, Cookie"),
      ]), stored: try #require(Timestamp(secondsSince2001: 7.5)), body: Body([1]))
  }
}

extension CredentialFilter {
  /// The filter for everything that a list masks.
  fileprivate static var all: CredentialFilter {
    var filter = CredentialFilter()
    filter.includesTokens = true
    return filter
  }
}
