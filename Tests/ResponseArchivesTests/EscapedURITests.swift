import Bytes
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct EscapedURITests {
  @Test func `characters that are invalid in a URI are escaped, others are kept`() {
    let cases: [(ByteString, ByteString)] = [
      ("https://a.example/x?filter[0]=a|b#c", "https://a.example/x?filter[0]=a%7Cb#c"),
      ("https://u:p@a.example/%7c%", "https://u:p@a.example/%7c%"),
      ("http://b\u{FC}cher.example/ \u{7F}\0", "http://b%C3%BCcher.example/%20%7F%00"),
      ("<>\"{}|\\^`", "%3C%3E%22%7B%7D%7C%5C%5E%60"),
      (ByteString([0x61, 0xFF]), "a%FF"), ("", ""),
    ]
    for (url, escaped) in cases {
      #expect(EscapedURI(url).text == escaped)
    }
  }

  @Test func `only URLs with a scheme are absolute`() {
    for url: ByteString in ["http://a.example/", "about:blank", "x-app.1+2:"] {
      #expect(EscapedURI(absolute: url) != nil, "\(url)")
    }
    for url: ByteString in ["", ":", "/path", "1a:x", "a b:x", "//host/"] {
      #expect(EscapedURI(absolute: url) == nil, "\(url)")
    }
  }
}
