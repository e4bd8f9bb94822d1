import Administration
import Testing

@Suite struct GlobTests {
  @Test func `patterns match whole texts`() throws {
    let cases: [(String, String, Bool)] = [
      ("*", "", true), ("", "", true), ("", "a", false), ("a*c", "abbbc", true),
      ("a*c", "abbb", false),
      ("?", "é", true), ("?", "\r\n", false), ("\"", "\"\u{301}", false),
      ("\"?", "\"\u{301}", true),
      ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("\\*", "*", true), ("\\*", "a", false),
      ("*a*a*a*a*b", String(repeating: "a", count: 5_000), false),
    ]
    for (pattern, text, isMatch) in cases {
      #expect(try #require(Glob(pattern)).matches(text) == isMatch, "\(pattern) \(text.prefix(20))")
    }
  }

  @Test func `a class that is not closed is no pattern`() {
    #expect(Glob("[a-") == nil)
    #expect(Glob("a[") == nil)
  }
}
