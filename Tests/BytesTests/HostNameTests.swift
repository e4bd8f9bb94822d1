import Bytes
import Testing

@Suite struct HostNameTests {
  /// Samples of RFC 3492 §7.1, in lowercase.
  private static let samples: [(unicode: String, ascii: String)] = [
    (
      "\u{4ED6}\u{4EEC}\u{4E3A}\u{4EC0}\u{4E48}\u{4E0D}\u{8BF4}\u{4E2D}\u{6587}",
      "ihqwcrb4cv8a8dqg056pqjye"
    ),
    (
      "pro\u{10D}prost\u{11B}nemluv\u{ED}\u{10D}esky",
      "proprostnemluvesky-uyb24dma41a"
    ),
    (
      "\u{43F}\u{43E}\u{447}\u{435}\u{43C}\u{443}\u{436}\u{435}\u{43E}\u{43D}\u{438}\u{43D}\u{435}"
        + "\u{433}\u{43E}\u{432}\u{43E}\u{440}\u{44F}\u{442}\u{43F}\u{43E}\u{440}\u{443}\u{441}"
        + "\u{441}\u{43A}\u{438}", "b1abfaaepdrnnbgefbadotcwatmq2g4l"
    ),
    (
      "porqu\u{E9}nopuedensimplementehablarenespa\u{F1}ol",
      "porqunopuedensimplementehablarenespaol-fmd56a"
    ),
    ("3\u{5E74}b\u{7D44}\u{91D1}\u{516B}\u{5148}\u{751F}", "3b-ww4c5e180e575a65lsy2b"),
    ("maji\u{3067}koi\u{3059}\u{308B}5\u{79D2}\u{524D}", "majikoi5-783gue6qz075azm5e"),
  ]

  @Test func `labels are encoded and decoded as in the RFC`() {
    for (unicode, code) in Self.samples {
      let ascii = Array("www.xn--\(code).example.".utf8)
      #expect(HostName.ascii("WWW.\(unicode).Example.") == ascii, "\(unicode)")
      #expect(HostName.unicode(ascii[...]) == Array("www.\(unicode).example.".utf8), "\(unicode)")
    }
  }

  @Test(arguments: [
    ("a\u{323}\u{302}", "\u{1EAD}"), ("a\u{302}\u{323}", "\u{1EAD}"), ("\u{E2}\u{323}", "\u{1EAD}"),
    ("\u{212B}", "\u{E5}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
    ("\u{D558}\u{11AB}", "\u{D55C}"),
    ("\u{304B}\u{3099}", "\u{304C}"), ("\u{418}\u{306}", "\u{439}"), ("\u{3B7}\u{301}", "\u{3AE}"),
    ("\u{1F77}", "\u{3AF}"), ("\u{130}", "i\u{307}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"),
    ("\u{DF}", "\u{DF}"), ("\u{3C2}", "\u{3C2}"), ("e\u{334}\u{301}", "\u{E9}\u{334}"),
    ("\u{FF21}\u{FF0D}\u{FF19}\u{FF0E}b", "a-9.b"), ("\u{9C7}\u{9BE}", "\u{9CB}"),
  ])
  func `a host is mapped to lowercase and composed`(host: String, mapped: String) {
    #expect(HostName.mapped(ByteString(host)) == ByteString(mapped))
    #expect(HostName.ascii(host) == HostName.ascii(mapped))
  }

  @Test func `only hosts that are not ASCII are converted`() {
    for host in ["", "a.example", "A.Example", "xn--a", "[::1]", "%41", "\u{E9}:80", "[\u{E9}]"] {
      #expect(HostName.ascii(Array(host.utf8)[...]) == nil, "\(host)")
    }
    #expect(HostName.ascii([0x61, 0xFF]) == nil)
    #expect(HostName.ascii(Array(String(repeating: "\u{E9}", count: 600).utf8)[...]) == nil)
  }

  @Test func `codes that stand for no host are kept`() {
    for host in [
      "xn--", "xn--a-", "xn--abc", "xn---", "xn--\u{7F}", "xn--99999999", "xn--bcher-kva-",
      "xn--zzzzzzzzzz",
      // In capitals, or decomposed: no host is encoded so.
      "xn--bcher-kvaa", "xn--a-ecp.example",
    ] {
      let bytes = Array(host.utf8)
      let unicode = HostName.unicode(bytes[...])
      #expect(unicode == bytes || HostName.ascii(unicode[...]) == bytes, "\(host)")
    }
    #expect(HostName.unicode(Array("xn--plain-".utf8)[...]) == Array("xn--plain-".utf8))
  }

  @Test func `no host makes it crash, and the two forms stand for each other`() {
    var state: UInt64 = 7
    func next(_ bound: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % bound
    }
    for round in 0..<4_000 {
      let isCode = round.isMultiple(of: 2)
      var host: [UInt8] = isCode ? Array("xn--".utf8) : []
      for _ in 0..<next(40) {
        host +=
          isCode
          ? [Array("abcdefghijklmnopqrstuvwxyz0123456789-.".utf8)[Int(next(38))]]
          : Array(String(Unicode.Scalar(UInt32(next(0x3400))) ?? "-").utf8)
      }
      let unicode = HostName.unicode(host[...])
      let ascii = HostName.ascii(host[...]) ?? host.map(\.asciiLowercased)
      #expect(HostName.ascii(unicode[...]) ?? unicode == ascii, "seed 7, round \(round)")
    }
  }
}
