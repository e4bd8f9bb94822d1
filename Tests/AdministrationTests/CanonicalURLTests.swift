import Administration
import Bytes
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
      ("http://a:80:80/", "http://a:80:80/"), ("http://[::1]:80", "http://[::1]/"),
      ("http://[::80", "http://[::80/"), ("http://a:443/", "http://a:443/"),
      ("1http://A:80", "1http://A:80"), ("mailto:A@B c", "mailto:A@B%20c"),
      ("https://a/%", "https://a/%25"), ("https://a/%%4a%4", "https://a/%25%4A%254"),
      ("https://\u{E9}x/", "https://xn--x-9fa/"), ("https://B%c3%bcx.A/", "https://xn--bx-xka.a/"),
      ("https://a/\"\u{301}", "https://a/%22%CC%81"),
      ("no url", "no%20url"),
      ("", ""),
    ]
    for (url, canonical) in cases {
      #expect(CanonicalURL.of(url) == canonical, "\(url.string ?? "")")
    }
  }

  @Test func `the canonical form is canonical`() {
    var state: UInt64 = 42
    let alphabet = Array("htps:/@[]?#%aF0 |\"\u{0301}.".utf8)
    let starts = ["", "https://", "http://a:80:", "http://[:"].map { Array($0.utf8) }
    let ends = ["", ":80", ":443/", ":80:80"].map { Array($0.utf8) }
    for round in 0..<1_500 {
      let bytes = (0..<(round % 30)).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return alphabet[Int(state >> 33) % alphabet.count]
      }
      for start in starts {
        for end in ends {
          let once = CanonicalURL.of(ByteString(start + bytes + end))
          if CanonicalURL.of(once) != once {
            Issue.record("seed 42, round \(round): \(start + bytes + end)")
          }
          // Uppercase in the scheme makes no difference, even if the rest is canonical.
          let rest = "example.com/".utf8 + bytes + end
          if CanonicalURL.of(ByteString("http://".utf8 + rest))
            != CanonicalURL.of(ByteString("HTTP://".utf8 + rest))
          {
            Issue.record("seed 42, round \(round): \(rest)")
          }
        }
      }
    }
  }

  @Test func `the host has no user, port or uppercase letters`() {
    #expect(CanonicalURL.host(of: "https://u:p@WWW.Example.com:8080/x@y") == "www.example.com")
    #expect(CanonicalURL.host(of: "https://[::1]:80/") == "::1")
    #expect(CanonicalURL.host(of: "mailto:a@b") == nil)
    #expect(CanonicalURL.host(of: "file:///a") == nil)
    #expect(CanonicalURL.path(of: "https://a/b/c?d#e") == "/b/c")
    #expect(CanonicalURL.scheme(of: "HTTPS://a") == "https")
  }

  @Test func `all spellings of a host have one canonical form`() {
    let spellings: [ByteString] = [
      "https://b\u{FC}cher.example/", "https://BU\u{308}CHER.Example:443",
      "https://XN--Bcher-KVA.example/", "https://b%C3%BCcher.example/",
      "https://b\u{FC}cher\u{3002}\u{FF45}xample/",
    ]
    for spelling in spellings {
      #expect(CanonicalURL.of(spelling) == "https://xn--bcher-kva.example/")
      #expect(CanonicalURL.comparedHost(of: spelling) == "xn--bcher-kva.example")
    }
    // Text that is no host is not converted.
    #expect(CanonicalURL.of("http://\u{E9}:80:80/") == "http://%C3%A9:80:80/")
    #expect(CanonicalURL.of("http://[\u{E9}]/") == "http://[%C3%A9]/")
  }

  @Test func `hostile URLs cost linear time`() {
    let escapes = CanonicalURL.of(ByteString("https://a/" + String(repeating: "%", count: 1 << 20)))
    #expect(escapes.bytes.count == 10 + (3 << 20))
    let bad = ByteString(Array("http://a/".utf8) + [0xFF, 0x80])
    #expect(CanonicalURL.of(bad) == "http://a/%FF%80")
  }
}
