import Matching
import Bytes
import Testing

@Suite struct GlobTests {
  @Test func `patterns match whole texts`() throws {
    let cases: [(String, String, Bool)] = [
      ("*", "", true), ("", "", true), ("", "a", false), ("a*c", "abbbc", true),
      ("a*c", "abbb", false),
      ("?", "é", true), ("?", "\r\n", false), ("\"", "\"\u{301}", false),
      ("\"?", "\"\u{301}", true),
      ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("\\*", "*", true), ("\\*", "a", false),
      ("[\\]]", "]", true), ("[]]", "]", true), ("[!]]", "]", false), ("[a\\-c]", "b", false),
      ("a*[!é]", "aé", false), ("*??", "é", false), ("*é", "aé", true), ("[a-]", "-", true),
      ("*", "\r\n\u{0}", true), ("\\", "\\", true),
      ("a*", "b/a", false), ("*/a", "b/c/a", true),
      ("*a*a*a*a*b", String(repeating: "a", count: 5_000), false),
    ]
    for (pattern, text, isMatch) in cases {
      #expect(
        try #require(Glob(pattern)).matches(ByteString(text)) == isMatch,
        "\(pattern) \(text.prefix(20))")
    }
  }

  @Test func `an unclosed class is invalid`() {
    #expect(Glob("[a-") == nil)
    #expect(Glob("a[") == nil)
    #expect(Glob("[]") == nil)
    #expect(Glob("[!]") == nil)
    #expect(Glob("[a\\]") == nil)
    #expect(Glob("[a\\") == nil)
  }

  @Test func `a byte that is not UTF-8 is one character`() throws {
    let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62]
    let cases: [(String, Bool)] = [
      ("*", true), ("a??b", true), ("a?b", false), ("a[!x]*", true), ("a[x-\u{10FFFF}]*", false),
    ]
    for (pattern, isMatch) in cases {
      #expect(try #require(Glob(pattern)).matches(ByteString(bytes)) == isMatch, "\(pattern)")
    }
  }
}
