import Administration
import ResponseStorage
import Testing

@Suite struct CanonicalURLTests {
  @Test func `a URL has one canonical form`() {
    let cases: [(ByteString, ByteString)] = [
      ("HTTP://Example.COM", "http://example.com/"),
      ("http://example.com:80/A%2fb", "http://example.com/A%2Fb"),
      ("https://example.com:443?q", "https://example.com/?q"),
      ("https://example.com:80/", "https://example.com:80/"),
      ("https://User:Pa@Host/#Frag", "https://User:Pa@host/#Frag"),
      ("https://[2001:DB8::1]:8080/x", "https://[2001:db8::1]:8080/x"),
      ("https://a/b c|d[e]", "https://a/b%20c%7Cd%5Be%5D"),
      ("https://a/100%", "https://a/100%25"),
      ("https://a/\u{E9}\r\n\u{1B}", "https://a/%C3%A9%0D%0A%1B"),
      ("no url", "no%20url"),
      ("", ""),
    ]
    for (url, canonical) in cases {
      #expect(CanonicalURL.of(url) == canonical, "\(url.string ?? "")")
    }
  }

  @Test func `the canonical form is its own`() {
    var state: UInt64 = 42
    let alphabet = Array("htps:/@[]?#%aF0 |\"\u{0301}.".utf8)
    for round in 0..<5_000 {
      let bytes = (0..<(round % 30)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % alphabet.count]
      }
      for start in [[], Array("https://".utf8)] {
        let once = CanonicalURL.of(ByteString(start + bytes))
        #expect(CanonicalURL.of(once) == once, "seed 42, round \(round): \(start + bytes)")
      }
    }
  }

  @Test func `the host has no user, no port and no capitals`() {
    #expect(CanonicalURL.host(of: "https://u:p@WWW.Example.com:8080/x@y") == "www.example.com")
    #expect(CanonicalURL.host(of: "https://[::1]:80/") == "::1")
    #expect(CanonicalURL.host(of: "mailto:a@b") == nil)
    #expect(CanonicalURL.path(of: "https://a/b/c?d#e") == "/b/c")
    #expect(CanonicalURL.scheme(of: "HTTPS://a") == "https")
  }
}
