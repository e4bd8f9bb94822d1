import Testing

@testable import Bytes

@Suite struct URLPartsTests {
  /// The parts of a URL as text; `nil` for absent parts.
  private struct Parts: Equatable {
    var scheme: String?
    var userInfo: String?
    var host: String?
    var port: String?
    var path: String
    var query: String?
    var fragment: String?
  }

  /// Returns the parts from ``URLParts``; each byte above 127 becomes the scalar with the same value.
  private static func parts(of text: [UInt8], allowsAnyScheme: Bool = false) -> Parts {
    let parts = URLParts(text, allowsAnyScheme: allowsAnyScheme)
    return Parts(
      scheme: parts.scheme.map(Self.text), userInfo: parts.authority?.userInfo.map(Self.text),
      host: (parts.authority?.host).map(Self.text), port: parts.authority?.port.map(Self.text),
      path: Self.text(parts.path), query: parts.query.map(Self.text),
      fragment: parts.fragment.map(Self.text))
  }

  private static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    text.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
    return text
  }

  /// Returns the parts from the regular expression in RFC 3986, appendix B.
  private static func model(of text: String) throws -> Parts {
    let reference = #/(?s)(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?/#
      .matchingSemantics(.unicodeScalar)
    let scheme = #/[A-Za-z][A-Za-z0-9+.\-]*/#.matchingSemantics(.unicodeScalar)
    // The last `@` ends the user info; the last `:` ends the host, unless a bracket follows it.
    let authority = #/(?s)(?:(.*)@)?(.*?)(?::([^:\]]*))?/#.matchingSemantics(.unicodeScalar)
    var match = try #require(try reference.wholeMatch(in: text)).output
    if let found = match.1, try scheme.wholeMatch(in: found) == nil {
      // The text has no scheme, so it is a path with a query and a fragment.
      let marked = "x:" + text
      match = try #require(try reference.wholeMatch(in: marked)).output
      match.1 = nil
    }
    let inAuthority = try match.2.map { try #require(try authority.wholeMatch(in: $0)).output }
    return Parts(
      scheme: match.1.map(String.init), userInfo: inAuthority?.1.map(String.init),
      host: inAuthority.map { String($0.2) }, port: inAuthority?.3.map(String.init),
      path: String(match.3), query: match.4.map(String.init), fragment: match.5.map(String.init))
  }

  @Test func `hostile URLs have the parts that the expression of RFC 3986 finds`() throws {
    let seed: UInt64 = 3986
    var urls = HostileURLs(seed: seed)
    for round in 0..<4_000 {
      let url = urls.next()
      let (found, expected) = (Self.parts(of: url), try Self.model(of: Self.text(url)))
      if found != expected {
        Issue.record("seed \(seed), round \(round), \(url): \(found), not \(expected)")
      }
    }
  }

  @Test func `the parts add up to the text`() {
    let seed: UInt64 = 5
    var urls = HostileURLs(seed: seed)
    for round in 0..<20_000 {
      let url = urls.next()
      for allowsAnyScheme in [false, true] {
        let parts = URLParts(url, allowsAnyScheme: allowsAnyScheme)
        var text: [UInt8] = []
        if let scheme = parts.scheme { text += scheme + ":".utf8 }
        if let authority = parts.authority {
          text += "//".utf8
          if let userInfo = authority.userInfo { text += userInfo + "@".utf8 }
          // `#expect` takes much longer than the comparison.
          if !authority.hostAndPort.elementsEqual(
            authority.host + (authority.port.map { ":".utf8 + $0 } ?? []))
          {
            Issue.record("seed \(seed), round \(round): \(url)")
          }
          text += authority.hostAndPort
        }
        let withoutFragment = text + parts.path + (parts.query.map { "?".utf8 + $0 } ?? [])
        if !parts.withoutFragment.elementsEqual(withoutFragment) {
          Issue.record("seed \(seed), round \(round): \(url)")
        }
        text = withoutFragment + (parts.fragment.map { "#".utf8 + $0 } ?? [])
        if text != url { Issue.record("seed \(seed), round \(round): \(url)") }
      }
    }
  }

  @Test func `no user info is left`() {
    let seed: UInt64 = 7
    var urls = HostileURLs(seed: seed)
    for round in 0..<20_000 {
      let url = urls.next()
      for allowsAnyScheme in [false, true] {
        let parts = URLParts(url, allowsAnyScheme: allowsAnyScheme)
        let rest = parts.withoutUserInfo
        let isClean =
          URLParts(rest, allowsAnyScheme: allowsAnyScheme).authority?.userInfo == nil
        let removed = parts.authority?.userInfo.map { $0.count + 1 } ?? 0
        if !isClean || rest.count + removed != url.count {
          Issue.record("seed \(seed), round \(round): \(url)")
        }
      }
    }
  }

  @Test(arguments: [
    ("https://u:p@h:1/a?b#c", "https://h:1/a?b#c"), ("http://a@b@c/", "http://c/"),
    ("http://@h", "http://h"), ("//u@h", "//h"), ("http://h/u@x", "http://h/u@x"),
    ("http://h?u@x", "http://h?u@x"), ("http://h#u@x", "http://h#u@x"),
    ("mailto:u@h", "mailto:u@h"), ("1x://u:p@h", "1x://h"), ("a b://u:p@h", "a b://h"),
    ("/go?to=http://u:p@h/", "/go?to=http://h/"), ("", ""), ("@", "@"),
  ])
  func `user info is cut out`(url: String, rest: String) {
    let parts = URLParts(Array(url.utf8), allowsAnyScheme: true)
    #expect(Self.text(parts.withoutUserInfo) == rest)
  }

  @Test func `any scheme is accepted on request`() {
    let text = Array("1x://u@h:8/p".utf8)
    #expect(Self.parts(of: text) == Parts(path: "1x://u@h:8/p"))
    #expect(
      Self.parts(of: text, allowsAnyScheme: true)
        == Parts(scheme: "1x", userInfo: "u", host: "h", port: "8", path: "/p"))
    // Without `//` there is no authority, and the rules of the RFC apply.
    #expect(Self.parts(of: Array("1x:u@h".utf8), allowsAnyScheme: true) == Parts(path: "1x:u@h"))
    #expect(
      Self.parts(of: Array("x:u@h".utf8), allowsAnyScheme: true)
        == Parts(scheme: "x", path: "u@h"))
  }

  @Test func `colons in an IPv6 address do not start a port`() {
    #expect(Self.parts(of: Array("x://[::1]".utf8)) == Parts(scheme: "x", host: "[::1]", path: ""))
    #expect(
      Self.parts(of: Array("x://[::1]:80".utf8))
        == Parts(scheme: "x", host: "[::1]", port: "80", path: ""))
    #expect(
      Self.parts(of: Array("x://a:".utf8)) == Parts(scheme: "x", host: "a", port: "", path: ""))
  }

  @Test func `parameters are split at their first equals sign`() {
    let parameters = URLParts(Array("x://h/?a=1&&b&=c&d=e=f?#g&h".utf8)).parameters
    #expect(parameters.map { Self.text($0.name) } == ["a", "b", "", "d"])
    let values = parameters.map { $0.value.map { Self.text($0) } }
    #expect(values == ["1", nil, "c", "e=f?"])
    #expect(URLParts(Array("x://h/a=1".utf8)).parameters.isEmpty)
  }

  @Test func `a URL has the characters of RFC 3986`() {
    let unreserved = "ABCXYZabcxyz019-._~"
    let reserved = ":/?#[]@!$&'()*+,;="
    #expect((unreserved + reserved + "%").utf8.allSatisfy { $0.mayBeInURL })
    let count = (0...UInt8.max).filter(\.mayBeInURL).count
    #expect(count == 26 + 26 + 10 + 4 + 18 + 1)
    #expect((0...UInt8.max).filter(\.isBracket) == Array("[]".utf8))
  }
}
