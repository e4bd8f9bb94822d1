import Bytes
import Rendering
import ResponseStorage
import Testing

@Suite struct CurlCommandTests {
  @Test func `text that is not UTF-8 is written with printf`() throws {
    var response = Samples.response(
      url: ByteString(Array("http://a.example/".utf8) + [0xFF, 0x27]))
    response.request.headers = HeaderFields([
      .init(name: "X", value: ByteString(Array("a'%!\\$(b)".utf8) + [0xFF])),
      .init(name: "Y", value: "a'%!\\$(b)"),
    ])
    response.request.body = Array("-x\n".utf8) + [0, 0x31]
    #expect(
      try text(response, SecretPolicy(showSecrets: true)) == #"""
        printf '\055x\n\0001' | curl --request 'GET' \
          --header "$(printf 'X: a\047%%\041\\$(b)\377')" \
          --header 'Y: a'\''%!\$(b)' \
          --header 'Content-Type:' \
          --url 'http://a.example/%FF'\''' \
          --data-binary @-

        """#)
  }

  @Test func `a long body is written in pieces`() throws {
    var response = Samples.response(url: "http://a.example/")
    response.request.method = nil
    response.request.body = Array(repeating: UInt8(ascii: "a"), count: 16_385)
    let piece = String(repeating: "a", count: 16_384)
    #expect(
      try text(response, SecretPolicy(showSecrets: true)) == #"""
        {
          printf '\#(piece)'
          printf 'a'
        } | curl --request 'POST' \
          --header 'Content-Type:' \
          --url 'http://a.example/' \
          --data-binary @-

        """#)
  }

  @Test func `conditions replace those of the stored request`() throws {
    var response = Samples.response(url: "http://a.example/")
    response.request.headers = HeaderFields([
      .init(name: "Accept", value: "a"), .init(name: "if-none-match", value: "\"old\""),
      .init(name: "Range", value: "bytes=1-"),
    ])
    let conditions = HeaderFields([
      .init(name: "If-None-Match", value: "W/\"it's\""),
      .init(name: "If-Modified-Since", value: "Wed, 08 Oct 2025 00:00:00 GMT"),
    ])
    #expect(
      try text(response, SecretPolicy(), under: conditions) == #"""
        curl --include \
          --header 'Accept: a' \
          --header 'If-None-Match: W/"it'\''s"' \
          --header 'If-Modified-Since: Wed, 08 Oct 2025 00:00:00 GMT' \
          --url 'http://a.example/'

        """#)
    #expect(
      try text(response, SecretPolicy(), under: HeaderFields())
        == "curl --include \\\n  --header 'Accept: a' \\\n  --url 'http://a.example/'\n")
  }

  @Test func `a request with only a URL is plain`() throws {
    var response = Samples.response(url: "https://u:p@a.example/?token=t#part")
    response.request = StoredResponse.Request()
    #expect(
      try text(response, SecretPolicy()) == "curl --url 'https://***@a.example/?token=***#part'\n")
    response.url = nil
    #expect { try text(response, SecretPolicy()) } throws: { "\($0)" == "it has no URL" }
  }

  private func text(
    _ response: StoredResponse, _ secrets: SecretPolicy, under conditions: HeaderFields? = nil
  ) throws -> String {
    var buffer = TextBuffer()
    try CurlCommand(repeating: response, under: conditions, secrets: secrets)
      .append(into: &buffer)
    return Samples.text(buffer)
  }
}
