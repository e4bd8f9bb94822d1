import Bytes
import ResponseStorage
import Testing

/// Tests that a new response is the same after encoding and decoding.
@Suite struct NewResponseTests {
  @Test func `all fields of a response are in its columns`() throws {
    let response = try response()
    let stored = StoredResponse(decoding: response.raw(id: 7), .all)
    #expect(stored.id == .row(7))
    #expect(stored.key == "https://a.example/x?y[b.example]")
    #expect(stored.url == "https://a.example/z")
    #expect(stored.firstStored == Timestamp(secondsSince2001: 100))
    #expect(stored.stored == response.stored)
    #expect(stored.status == 200)
    #expect(stored.mimeType == "text/html")
    #expect(stored.responseHeaders == response.headers)
    #expect(stored.request.method == "POST")
    #expect(stored.request.url == "https://a.example/x?y/")
    #expect(stored.request.headers == response.request.headers)
    #expect(stored.request.body == Array("sent".utf8))
    #expect(stored.storagePolicy == .allowed)
    #expect(stored.partition == "b.example")
    #expect(stored.userInfo == [.init(key: "attempt", value: .integer(3))])
    #expect(stored.bodySize == 2 && stored.bodyLocation == .inline)
    #expect(stored.notes == [])
  }

  @Test func `a response with Vary has a record of it and of the request fields`() throws {
    let stored = StoredResponse(decoding: try response().raw(id: 1), .all)
    #expect(
      stored.protocolProperties == [
        .init(
          key: "Accept, Cookie",
          value: .dictionary([.init(key: "Accept", value: .text("*/*"))])),
        .init(key: "kCFURLRequestAllowAllPOSTCaching", value: .boolean(true)),
        .init(key: "_kCFURLCachePartitionKey", value: .text("b.example")),
      ])
  }

  @Test(arguments: [(4_095, false), (4_096, true)])
  func `a body of 4,096 bytes has a body file`(size: Int, isFile: Bool) throws {
    var response = try response()
    response.body = Body([UInt8](repeating: 1, count: size))
    #expect(response.raw(id: 1).hasBodyFile == isFile)
    #expect(response.raw(id: 1).value(of: "isDataOnFS") == .integer(isFile ? 1 : 0))
  }

  @Test(
    arguments: [
      ("text/HTML; charset=utf-8", "text/html"), (" a/b ", "a/b"), ("", nil), (";", nil),
      ("a/b, c/d", "a/b"),
    ] as [(ByteString, ByteString?)])
  func `the stored media type has no parameters`(value: ByteString, type: ByteString?) {
    #expect(HeaderFields([.init(name: "content-type", value: value)]).mediaType == type)
  }

  private func response() throws -> NewResponse {
    var response = NewResponse(
      url: "https://a.example/x?y/", method: "POST",
      requestHeaders: HeaderFields([.init(name: "Accept", value: "*/*")]), status: 200,
      headers: HeaderFields([
        .init(name: "Content-Type", value: "text/html; charset=utf-8"),
        .init(name: "Vary", value: "Accept"), .init(name: "Vary", value: "Cookie"),
      ]), stored: try #require(Timestamp(secondsSince2001: 100.5)), body: Body([1, 2]))
    response.url = "https://a.example/z"
    response.request.body = Array("sent".utf8)
    response.partition = "b.example"
    response.userInfo = [
      .init(key: "attempt", value: .integer(3)), .init(key: "gone", value: .opaque("NSLock")),
    ]
    return response
  }
}
