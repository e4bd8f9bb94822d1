import Administration
import ResponseStorage
import Testing

@Suite struct CredentialFilterTests {
  @Test(arguments: [
    ("http://a.example/", "http://a.example/"), ("http://u:p@a.example/", "http://a.example/"),
    ("http://u@a.example", "http://a.example"), ("//u:p@a.example/x@y", "//a.example/x@y"),
    ("http://a@b@a.example/", "http://a.example/"),
    ("http://a.example/u@v", "http://a.example/u@v"),
    ("http://a.example?u@v", "http://a.example?u@v"), ("mailto:u@a.example", "mailto:u@a.example"),
    ("<http://u:p@a/>; rel=x, </b>, <//v@c>", "<http://a/>; rel=x, </b>, <//c>"),
    ("http://a.example/?next=https://u:p@b.example/", "http://a.example/?next=https://b.example/"),
    ("a//b//c@d//", "a//b//d//"), ("", ""), ("@", "@"), ("//", "//"),
  ])
  func `user information leaves URLs`(url: String, expected: String) {
    #expect(CredentialFilter().url(ByteString(url)) == ByteString(expected))
  }

  @Test func `header fields of credentials go, whatever their case`() {
    let kept: [HeaderFields.Field] = [
      .init(name: "Accept", value: "*/*"), .init(name: "Cookies", value: "1"),
      .init(name: "Referer", value: "http://a.example/"),
    ]
    let headers = HeaderFields(
      [
        .init(name: "COOKIE", value: "a"), .init(name: "set-Cookie", value: "b"),
        .init(name: "Set-Cookie", value: "c"), .init(name: "authorization", value: "d"),
        .init(name: "Proxy-Authorization", value: "e"), .init(name: "Set-Cookie2", value: "f"),
      ] + kept.dropLast() + [.init(name: "Referer", value: "http://u:p@a.example/")])
    #expect(CredentialFilter().headers(headers) == HeaderFields(kept))
  }
}
