import Bytes
import Foundation
import Rendering
import ResponseStorage
import Testing

struct ShowRendererTests {
  let response: StoredResponse = {
    var response = Samples.response(url: "https://u:p@h.example/?token=a")
    response.responseHeaders = HeaderFields([
      .init(name: "Set-Cookie", value: "a=1"), .init(name: "Set-Cookie", value: "b=2"),
      .init(name: "X-Odd", value: ByteString([0x1B, 0xFF])),
    ])
    response.request.headers = HeaderFields([.init(name: "Authorization", value: "Basic x")])
    response.request.body = [1, 2, 3, 4]
    response.userInfo = [.init(key: "data", value: .data([0xFF])), .init(key: "n", value: .null)]
    response.notes = [.init(.wrongType, "the status is text")]
    return response
  }()

  private func text(_ part: ShowRenderer.Part, _ secrets: SecretPolicy = SecretPolicy()) throws
    -> String
  {
    let now = try #require(Samples.now)
    var buffer = TextBuffer()
    ShowRenderer(part: part, secrets: secrets, now: now)
      .appendText(response, sha256: "abc", into: &buffer)
    return Samples.text(buffer)
  }

  @Test func `headers are shown in order, repeated ones kept`() throws {
    #expect(
      try text(.responseHeaders)
        == "Set-Cookie: ***\nSet-Cookie: ***\nX-Odd: ‹U+001B›‹0xFF›\n")
  }

  @Test func `all sections are shown without secrets`() throws {
    #expect(
      try text(.everything) == """
        Entry         1
        URL           https://***@h.example/?token=***
        Key           https://***@h.example/?token=***
        Stored        2025-12-20T00:00:00Z (12 days ago)
        First stored  -
        Freshness     no lifetime (age 12 days)
        Validators    none
        Media type    -
        Policy        -
        Body          file
        Size          4.1 MiB (4,300,000 bytes)
        SHA-256       abc

        Request
          GET https://***@h.example/?token=***
          Authorization: ***
          (body 4 B, masked)

        Response
          200
          Set-Cookie: ***
          Set-Cookie: ***
          X-Odd: ‹U+001B›‹0xFF›

        User info
          data: {"base64":"/w=="}
          n: null

        Notes
          wrong-type: the status is text

        """)
  }

  @Test func `JSON has the body of the request only with secrets`() throws {
    let now = try #require(Samples.now)
    for shows in [false, true] {
      var buffer = TextBuffer()
      var renderer = ShowRenderer(secrets: SecretPolicy(showSecrets: shows), now: now)
      renderer.appendJSON(response, sha256: nil, into: &buffer)
      renderer.endJSON(into: &buffer)
      let parsed = try JSONSerialization.jsonObject(with: Data(buffer.bytes))
      let entry = try #require((parsed as? [[String: Any]])?.first)
      #expect(entry["request_body_base64"] as? String == (shows ? "AQIDBA==" : nil))
      #expect(entry["url"] as? String == "https://u:p@h.example/?token=a")
      let headers = try #require(entry["response_headers"] as? [[Any]])
      #expect(headers.first?.last as? String == (shows ? "a=1" : "***"))
      #expect(headers.last?.count == 3)
    }
  }
}
