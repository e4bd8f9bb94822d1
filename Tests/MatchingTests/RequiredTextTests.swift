import Bytes
@testable import Matching
import Testing

@Suite struct RequiredTextTests {
  private func required(_ expression: String, ignoringCase: Bool = false) -> String? {
    RequiredText.search(of: expression, ignoringCase: ignoringCase)?.text.string
  }

  @Test(arguments: [
    ("lem[o-z]n lemon (lemon|quiet) stale", "n lemon "), ("abc", "abc"), ("^abc$", "abc"),
    ("abcd?efg", "abc"), ("abcde*fg", "abcd"), ("abc+de", "abc"), ("abc{2}de", "ab"),
    ("abc{2,}?x", "ab"), (#"a\.b\dcd"#, "a.b"), (#"a\\b"#, #"a\b"#), ("(abc)?de", "de"),
    (#"(a(b|\)c)[)]d)efg"#, "efg"), ("[]abc]de", "de"), ("[^]abc]de", "de"), (#"[\]a]bc"#, "bc"),
    ("stra\u{df}e?n", "stra\u{df}"), ("stra\u{df}?en", "stra"), (#"\bfoo\b"#, "foo"),
    ("a.bc", "bc"),
  ])
  func `each match contains the text`(expression: String, text: String) {
    #expect(required(expression) == text)
  }

  @Test(arguments: [
    "abc|abd", "(?i)abc", "(?x)a b c", "(*UTF)abc", #"\Qa?b\E"#, #"\x41bc"#, #"\N{U+41}bc"#,
    #"(a)\1bc"#, "a{,3}bc", "a{bc", "[[:alpha:]]bc", "(abc", "[abc", #"abc\"#, "abc)", "a*", "[ab]",
    #"\d+"#, #"\p{L}bc"#, #"\cAbc"#, #"(a(?i)b)cd"#,
  ])
  func `nothing is known of other expressions`(expression: String) {
    #expect(required(expression) == nil)
  }

  @Test func `letters with other cases outside of ASCII are left out`() {
    #expect(required("Xabc-keys", ignoringCase: true) == "xabc-")
    #expect(RequiredText.caselessSearch(of: "Basket")?.text.string == "ba")
    #expect(RequiredText.caselessSearch(of: "skS") == nil)
    #expect(RequiredText.caselessSearch(of: "\u{e9}t\u{e9}")?.text.string == "t")
  }

  @Test(arguments: ["kelvin", "mask", "SKY", "LEMON tree", "\u{c9}clair", "\u{3a3}\u{3af}"])
  func `all cases match`(text: String) throws {
    let pattern = try TextPattern(text, ignoresCase: true)
    for other in [text, text.lowercased(), text.uppercased()] {
      #expect(try pattern.matches(ByteString("<\(other)>")))
    }
    let symbols = text.uppercased().unicodeScalars.map { scalar -> String in
      switch scalar {
      case "K": "\u{212a}"
      case "S": "\u{17f}"
      default: String(scalar)
      }
    }
    #expect(try pattern.matches(ByteString(symbols.joined())))
    #expect(try !pattern.matches(ByteString(String(text.unicodeScalars.dropLast()))))
  }
}
