import Bytes
import ResponseStorage
import Testing

@Suite struct ResponseRewritingTests {
  @Test(
    arguments: [
      ("https://a.example/x?y#z", "https://b.example/x?y#z"),
      ("https://u@A.example:81/", "https://u@b.example:81/"),
      ("https://c.example:80/", "https://d.example:8080/"),
      ("https://c.example/", "https://c.example/"),
      ("https://e.example:5/", "https://[::1]:7/"),
      ("https://sub.a.example/", "https://sub.a.example/"),
      ("https://x.example/a.example", "https://x.example/a.example"),
    ] as [(ByteString, ByteString)])
  func `a host is replaced in all URLs`(old: ByteString, new: ByteString) throws {
    var rewriting = ResponseRewriting()
    rewriting.hosts = [
      .init(from: "a.example", to: "b.example"), .init(from: "c.example:80", to: "d.example:8080"),
      .init(from: "e.example", to: "[::1]:7"), .init(from: "a.example", to: "never.example"),
    ]
    let raw = try response(old).raw(id: 1)
    let expected = try response(new).raw(id: 1)
    let rewritten = rewriting.applied(to: raw)
    #expect(rewritten.columns == expected.columns)
    #expect(StoredResponse(decoding: rewritten, .all) == StoredResponse(decoding: expected, .all))
    #expect(rewritten.finding == nil)
  }

  @Test func `the import time is added to the existing user info`() throws {
    let time = try #require(Timestamp(secondsSince2001: 99))
    var rewriting = ResponseRewriting()
    rewriting.stamp = .init(key: "seeded", time: time)
    var response = try response("https://a.example/")
    response.userInfo = [
      .init(key: "seeded", value: .integer(1)), .init(key: "a", value: .text("b")),
    ]
    let stamped = StoredResponse(decoding: rewriting.applied(to: response.raw(id: 1)), .userInfo)
    #expect(
      stamped.userInfo == [
        .init(key: "a", value: .text("b")), .init(key: "seeded", value: .date(time)),
      ])
    response.userInfo = []
    let other = StoredResponse(decoding: rewriting.applied(to: response.raw(id: 1)), .userInfo)
    #expect(other.userInfo == [.init(key: "seeded", value: .date(time))])
  }

  @Test func `a response that cannot be decoded cannot be changed`() throws {
    var rewriting = ResponseRewriting()
    rewriting.hosts = [.init(from: "a.example", to: "b.example")]
    rewriting.stamp = .init(key: "seeded", time: try #require(Timestamp(secondsSince2001: 99)))
    for index in [0, 1, 3] {
      var raw = try response("https://a.example/").raw(id: 1)
      raw.parts[index].content = Body([1, 2, 3])
      #expect(rewriting.applied(to: raw).finding != nil)
    }
  }

  private func response(_ url: ByteString) throws -> NewResponse {
    NewResponse(
      url: url, status: 200,
      headers: HeaderFields([.init(name: "Location", value: "https://a.example/")]),
      stored: try #require(Timestamp(secondsSince2001: 7.5)), body: Body([1]))
  }
}
