import ResponseStorage
import Testing

@Suite struct CredentialFilterTests {
  @Test(
    arguments: [
      ("https://u:p@a.example/x@y", "https://a.example/x@y"),
      ("https://a@b@c.example", "https://c.example"), ("mailto:a@b.example", "mailto:a@b.example"),
      ("see //u@h/ and https://v@i/", "see //h/ and https://i/"),
      ("https://a.example/?sig=1&b=2&SIG=3#sig=4", "https://a.example/?sig=&b=2&SIG=#sig="),
      ("/next?%73ig=1;sig=2", "/next?%73ig=;sig="), ("<a?sig=1>; rel=x", "<a?sig=>; rel=x"),
      ("https://a.example/?design=1&sig", "https://a.example/?design=1&sig"),
    ] as [(ByteString, ByteString)])
  func `URLs lose user information and the values of parameters`(
    url: ByteString, rest: ByteString
  ) {
    var filter = CredentialFilter()
    filter.queryNames = ["sig"]
    #expect(filter.url(url) == rest)
  }

  @Test func `a response without credentials stays as it is`() throws {
    let raw = try response().raw(id: 3)
    let redacted = try #require(CredentialFilter().redacted(raw))
    #expect(redacted.places == [])
    #expect(
      StoredResponse(decoding: redacted.0, .all) == StoredResponse(decoding: raw, .all))
  }

  @Test func `credentials go from all places, which are named`() throws {
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
    let redacted = try #require(CredentialFilter().redacted(response.raw(id: 3)))
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
    raw.parts[0].contents = .bytes(Array("bplist00 secret".utf8))
    #expect(CredentialFilter().redacted(raw).map(\.places) == nil)
  }

  private func response() throws -> NewResponse {
    NewResponse(
      url: "https://a.example/",
      requestHeaders: HeaderFields([.init(name: "Accept", value: "*/*")]),
      status: 200,
      headers: HeaderFields([
        .init(name: "Content-Type", value: "text/html"),
        .init(name: "Vary", value: "Accept, Cookie"),
      ]), stored: try #require(Timestamp(secondsSince2001: 7.5)), body: .bytes([1]))
  }
}
