import Administration
import Bytes
import Rendering
import ResponseStorage
import Testing

struct MaskTests {
  @Test(arguments: [
    ("https://u:p@h.example/a?b=c", "https://***@h.example/a?b=c"),
    ("https://u@p@h.example", "https://***@h.example"),
    ("https://h/?token=a&x=1", "https://h/?token=***&x=1"),
    ("https://h/?x=1&ACCESS_TOKEN=a%26b;c#f", "https://h/?x=1&ACCESS_TOKEN=***#f"),
    ("https://h/?%74oken=a", "https://h/?%74oken=***"),
    ("https://h/#access_token=a&state=b", "https://h/#access_token=***&state=b"),
    ("https://h/#/in?id_token=a", "https://h/#/in?id_token=***"),
    (
      "https://h/?X-Amz-Signature=a&X-Goog-Date=b", "https://h/?X-Amz-Signature=***&X-Goog-Date=***"
    ),
    ("https://h/?q=eyJhbGciOi.J9", "https://h/?q=***"),
    ("https://h/a;jsessionid=12/b", "https://h/a;jsessionid=***/b"),
    ("https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3Dx", "https://h/?next=***"),
    ("https://h/?page=2&monkey=x&token=", "https://h/?page=2&monkey=x&token="),
    ("https://h/?a=1?token=b", "https://h/?a=1?token=***"),
    ("https://h/?next=https%253A%252F%252Fg%252F%253Ftoken%253Dx", "https://h/?next=***"),
    ("https://h/?q={\"a\":\"b\",\"token\" : \"x\"}&p=1", "https://h/?q=***&p=1"),
    ("https://h/?q=%7B%22access_token%22%3A%22x%22%7D", "https://h/?q=***"),
    ("https://h/?q={\"a\":\"token\"}", "https://h/?q={\"a\":\"token\"}"),
    ("https://h/?token[0]=x&token%5B12%5D=y", "https://h/?token[0]=***&token%5B12%5D=***"),
    ("https://h/?monkey[0]=x", "https://h/?monkey[0]=x"),
    ("https://h/v1/eyJhbGciOiJIUzI1NiJ9.e30.c2ln/x", "https://h/v1/***/x"),
    ("https://h/?eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "https://h/?***"),
    ("https://h/?eyJhbGciOiJIUzI1NiJ9.e30.c2ln&a=b#c", "https://h/?***&a=b#c"),
    ("https://h/?eyJhbGciOiJIUzI1NiJ9.e30.c2ln=1", "https://h/?***=1"),
    ("https://h/?x_eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "https://h/?x_***"),
    ("https://h/?a=b&x-eyJhbGciOiJIUzI1NiJ9.e30.c2ln=1", "https://h/?a=b&x-***=1"),
    ("https://h/i%2FeyJhbGciOiJIUzI1NiJ9.e30.c2ln", "https://h/i%2F***"),
    ("https://h/?q=Bearer+0123456789ab&r=1", "https://h/?q=***&r=1"),
    ("https://h/?q=Basic%20dTpwYXNz", "https://h/?q=***"),
    ("https://h/?q=basic+car", "https://h/?q=basic+car"),
    ("https://h/?q={\"a\\\"b\",\"x\":\"\",\"token\":1}", "https://h/?q=***"),
    ("https://h/?q={\"a\":\"\\\"\",\"token\":\"x\"}", "https://h/?q=***"),
    ("https://h/?q={\"a\":\"\\\\\",\"token\":\"x\"}", "https://h/?q=***"),
    ("https://h/?q={\\\"token\\\":\\\"x\\\"}", "https://h/?q=***"),
    ("https://h/?q={\"a\":\"{\\\"token\\\":\\\"x\\\"}\"}", "https://h/?q=***"),
    ("https://h/eyJ.css", "https://h/eyJ.css"),
    ("https://h/heyJude1234.a.b", "https://h/heyJude1234.a.b"),
    (
      "https://h/?hmac=a&tk=b&SAMLResponse=c&Key-Pair-Id=d",
      "https://h/?hmac=***&tk=***&SAMLResponse=***&Key-Pair-Id=***"
    ),
    ("mailto:a@b.example", "mailto:a@b.example"),
    ("https://h/?next=https://u:p@g/&a=x@y", "https://h/?next=https://***@g/&a=x@y"),
  ])
  func `a URL keeps everything except its secrets`(url: String, masked: String) {
    #expect(Mask.url(ByteString(url)) == ByteString(masked))
  }

  @Test(arguments: [
    ("Authorization", "Basic eA==", "***"), ("COOKIE", "a=b", "***"), ("set-cookie", "a=b", "***"),
    ("X-Forwarded-Authorization", "k", "***"), ("X-Original-Cookie", "k", "***"),
    ("X-Proof", "Bearer eyJhbGciOi.J9.c2ln", "***"), ("X-Proof", "v=\"eyJhbGciOi.J9.c2ln\"", "***"),
    ("ETag", "\"heyJude.mp3\"", "\"heyJude.mp3\""), ("X-Note", "eyJ, no.", "eyJ, no."),
    ("Location", "https://h/?q=eyJhbGciOi.J9", "https://h/?q=***"),
    ("X-Upstream", "Bearer 0123456789ab", "***"), ("X-Upstream", "bearer abcdef", "***"),
    ("X-Upstream", "Basic dTpwYXNz", "***"), ("X-Upstream", "Basic YTpi", "***"),
    ("X-Upstream", " bearer  x ", "***"), ("X-Mode", "Basic", "Basic"),
    ("X-Mode", "token a", "token a"),
    (
      "WWW-Authenticate", "Basic realm=\"a\"", "Basic realm=\"a\""
    ),
    ("X-Note", "a=b; Bearer 0123456789ab.c", "***"),
    ("X-Note", "{\"a\":\"Bearer 0123456789ab\"}", "***"),
    ("X-Note", "the bearer token", "the bearer token"),
    ("X-Note", "Basic information here", "Basic information here"),
    (
      "WWW-Authenticate", "Bearer authorization_uri=\"https://h/\"",
      "Bearer authorization_uri=\"https://h/\""
    ),
    ("X-Debug", "Authorization=Bearer 0123456789ab", "***"),
    ("X-Api-Key", "k", "***"), ("X-Auth-Token", "k", "***"), ("__hhaa__", "YnBs", "***"),
    ("Accept", "text/html", "text/html"), ("ETag", "\"a=b\"", "\"a=b\""),
    ("Location", "https://h/?code=1", "https://h/?code=***"),
    ("Location", "https://h/p;token=x", "https://h/p;token=***"),
    ("Location", "https://h/#access_token=x", "https://h/#access_token=***"),
    ("Location", "https://u:p@h/", "https://***@h/"),
    (
      "Link", "<https://h/?token=1>; rel=next, <https://u:p@i/>",
      "<https://h/?token=***>; rel=next, <https://***@i/>"
    ),
  ])
  func `a header field is masked by its name`(name: String, value: String, masked: String) {
    #expect(
      Mask.headerValue(ByteString(value), named: ByteString(name)) == ByteString(masked))
  }

  @Test(arguments: [
    (#"{"password":"secret","a":1}"#, #"{"password":"***","a":1}"#),
    ("a=b, token=aa", "a=b, token=***"),
    (#"{"token":"***"}"#, #"{"token":"***"}"#), ("max-age=60, private", "max-age=60, private"),
  ])
  func `values with names of secrets are masked, however weak they are`(
    value: String, masked: String
  ) {
    #expect(Mask.headerValue(ByteString(value), named: "X-Note") == ByteString(masked))
  }

  @Test func `a Vary record is masked by field name`() {
    let record = StoredResponse.Property(
      key: "Vary",
      value: .dictionary([
        .init(key: "Cookie", value: .text("a=b")), .init(key: "Accept", value: .text("*/*")),
      ]))
    let masked = StoredResponse.Property(
      key: "Vary",
      value: .dictionary([
        .init(key: "Cookie", value: .text("***")), .init(key: "Accept", value: .text("*/*")),
      ]))
    #expect(SecretPolicy().properties([record]) == [masked])
    #expect(SecretPolicy(showSecrets: true).properties([record]) == [record])
  }

  @Test(arguments: [
    "a=%41;b=eyJ;", "eyJ_", "eyJ.", "eyJAAAAAAAAAAAA_", "x&eyJAAAAAAAAAAAA-eyJ_", "bearer ",
  ])
  func `a long hostile query is masked in linear time`(unit: String) {
    let unit = Array(unit.utf8)
    // A dot after possible JWT headers makes each of them search for the second dot.
    for end in ["", ".", ".A"] {
      let url = ByteString(
        Array("https://h/?".utf8) + (0..<10_000).flatMap { _ in unit } + Array(end.utf8))
      #expect(Mask.url(url) == url)
      #expect(Mask.headerValue(url, named: "X-Note").bytes.count > 0)
    }
  }

  @Test func `machine-readable output masks URLs only on request`() {
    let response = Samples.response(url: "https://h/?token=a")
    let redacted = SecretPolicy(redactURLs: true)
    func urls(_ format: ListFormat, _ secrets: SecretPolicy) -> String {
      Samples.text(Samples.render(format, [response], columns: ["url"], secrets: secrets))
    }
    #expect(urls(.urls, SecretPolicy()) == "https://h/?token=a\n")
    #expect(urls(.urls, redacted) == "https://h/?token=***\n")
    #expect(urls(.table, SecretPolicy()) == "URL\nhttps://h/?token=***\n")
    #expect(urls(.table, SecretPolicy(showSecrets: true)) == "URL\nhttps://h/?token=a\n")
  }
}
