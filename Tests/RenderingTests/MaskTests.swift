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
    ("mailto:a@b.example", "mailto:a@b.example"),
  ])
  func `a URL keeps all but its secrets`(url: String, masked: String) {
    #expect(Mask.url(ByteString(url)) == ByteString(masked))
  }

  @Test(arguments: [
    ("Authorization", "Basic eA==", "***"), ("COOKIE", "a=b", "***"), ("set-cookie", "a=b", "***"),
    ("X-Api-Key", "k", "***"), ("X-Auth-Token", "k", "***"), ("__hhaa__", "YnBs", "***"),
    ("Accept", "text/html", "text/html"), ("ETag", "\"a=b\"", "\"a=b\""),
    ("Location", "https://h/?code=1", "https://h/?code=***"),
  ])
  func `a header field is masked by its name`(name: String, value: String, masked: String) {
    #expect(
      Mask.headerValue(ByteString(value), named: ByteString(name)) == ByteString(masked))
  }

  @Test func `a Vary record is masked by the name of the field`() {
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

  @Test func `a long hostile query is masked in linear time`() {
    let unit = Array("a=%41;b=eyJ;".utf8)
    let url = ByteString(Array("https://h/?".utf8) + (0..<20_000).flatMap { _ in unit })
    #expect(Mask.url(url) == url)
  }

  @Test func `programs see URLs as they are unless they are to be redacted`() {
    let response = Samples.response(url: "https://h/?token=a")
    let redacted = SecretPolicy(redactURLs: true)
    func urls(_ format: ListFormat, _ secrets: SecretPolicy) -> String {
      Samples.text(Samples.render(format, [response], columns: [.url], secrets: secrets))
    }
    #expect(urls(.urls, SecretPolicy()) == "https://h/?token=a\n")
    #expect(urls(.urls, redacted) == "https://h/?token=***\n")
    #expect(urls(.table, SecretPolicy()) == "URL\nhttps://h/?token=***\n")
    #expect(urls(.table, SecretPolicy(showSecrets: true)) == "URL\nhttps://h/?token=a\n")
  }
}
