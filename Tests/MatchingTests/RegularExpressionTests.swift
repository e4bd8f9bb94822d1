import Bytes
@testable import Matching
import Testing

@Suite struct RegularExpressionTests {
  @Test func `the whole text must match`() throws {
    let texts: [ByteString] = ["abc", "b", "abc\n", ""]
    let cases: KeyValuePairs = [
      "a.c": [true, false, false, false],
      "b|abc": [true, true, false, false],
      ".*b.*": [true, true, false, false],
      "(a|b|c)*": [true, true, false, true],
      "(?i)ABC": [true, false, false, false],
      "a|ab|abc": [true, false, false, false],
      "": [false, false, false, true],
    ]
    for (pattern, wanted) in cases {
      let expression = try RegularExpression(pattern, .matchesWholeText)
      #expect(try texts.map { try expression.matches($0) } == wanted, "\(pattern)")
    }
  }

  @Test func `characters are Unicode scalars`() throws {
    #expect(try RegularExpression("\"", .matchesWholeText).matches("\""))
    #expect(try !RegularExpression("\"", .matchesWholeText).matches("\"\u{301}"))
    #expect(try RegularExpression("..", .matchesWholeText).matches("e\u{301}"))
    #expect(try RegularExpression("\\w+", .matchesWholeText).matches("\u{e9}\u{3b1}\u{417}9"))
    // The sign for kelvin and the long s.
    #expect(try RegularExpression("ks", [.isLiteral, .ignoresCase]).matches("\u{212A}\u{17F}"))
  }

  @Test func `bytes that are not UTF-8 match only where they are allowed`() throws {
    let text = ByteString([0x61, 0xFF, 0x62])
    #expect(try !RegularExpression("b").matches(text))
    #expect(try RegularExpression("b", .allowsBrokenText).matches(text))
    #expect(try !RegularExpression("a.b", .allowsBrokenText).matches(text))
  }

  @Test func `a match can begin after the start of a text`() throws {
    let text = Array("foo foo".utf8)
    let expression = try RegularExpression("\\bfoo")
    #expect(try expression.firstMatch(in: text.span) == 0..<3)
    #expect(try expression.firstMatch(in: text.span, from: 1) == 4..<7)
    #expect(try expression.firstMatch(in: text.span, from: 5) == nil)
    #expect(try RegularExpression("^f").firstMatch(in: text.span, isLineStart: false) == nil)
    #expect(try RegularExpression("o$").firstMatch(in: text.span, isLineEnd: false) == nil)
    #expect(try RegularExpression("o$").firstMatch(in: text.span) == 6..<7)
  }

  @Test(arguments: [
    ("(", 1, "missing closing parenthesis"), ("a[", 2, "missing terminating ] for character class"),
    ("ab*?c{2,1}", 9, "numbers out of order in {} quantifier"),
    ("*", 0, "quantifier does not follow a repeatable item"), ("\\", 1, "\\ at end of pattern"),
    ("\u{e9}(?<a", 6, "syntax error in subpattern name (missing terminator?)"),
  ])
  func `an error has a place`(_ pattern: String, _ offset: Int, _ reason: String) {
    for options in [[], .matchesWords] as [RegularExpression.Options] {
      let error = #expect(throws: RegularExpression.SyntaxError.self) {
        try RegularExpression(pattern, options)
      }
      #expect(error?.reason == reason && error?.offset == offset, "\(String(describing: error))")
      #expect(error?.character == offset + (pattern.utf8.first == 0xC3 ? 0 : 1))
    }
  }

  @Test func `hostile expressions are refused or bounded`() throws {
    let deep = String(repeating: "(", count: 10_000) + String(repeating: ")", count: 10_000)
    let patterns = [
      deep, "((a{1000}){1000}){1000}", String(repeating: "a", count: 1 << 20), "a\\Cb", "(?R",
      "(*LIMIT_MATCH=99999999999)a",
    ]
    for pattern in patterns {
      #expect(throws: RegularExpression.SyntaxError.self) { try RegularExpression(pattern) }
    }
  }

  @Test(arguments: [
    "(a+)+b", "(a|a)*b", "a*a*a*a*a*a*a*a*a*a*b", "(?:(a?){50}){50}b", "((?1)?a)*b",
  ])
  func `a match with too much backtracking ends`(pattern: String) throws {
    let text = ByteString(String(repeating: "a", count: 3_000) + "c b")
    let begin = ContinuousClock.now
    let error = #expect(throws: RegularExpression.Overrun.self) {
      try RegularExpression(pattern, .matchesWholeText).matches(text)
    }
    #expect(error?.pattern == pattern && error?.textLength == 3_003)
    #expect(ContinuousClock.now - begin < .seconds(10))
  }

  @Test func `an exceeded limit says which`() throws {
    let text = ByteString(String(repeating: "a", count: 40) + "c b")
    let steps = #expect(throws: RegularExpression.Overrun.self) {
      try RegularExpression("(a+)+b").matches(text)
    }
    #expect(steps == .init(pattern: "(a+)+b", textLength: 43, limit: .steps))
    let long = ByteString(String(repeating: "a", count: 1 << 20))
    let memory = #expect(throws: RegularExpression.Overrun.self) {
      try RegularExpression("(?:(a)|b|c)*d|(?:(a)|b|c)*$(?!.)x").matches(long)
    }
    #expect(memory?.limit == .memory || memory?.limit == .steps)
    // The same expression still works for other texts.
    #expect(try RegularExpression("(a+)+b").matches("aaab"))
  }

  @Test func `threads share an expression`() async throws {
    let expression = try RegularExpression("(\\d+)-x")
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<4 {
        group.addTask {
          try (0..<2_000).count {
            try expression.matches(ByteString("\($0)-\($0 % 4 == worker ? "x" : "y")"))
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(counts == 2_000)
  }
}

extension Range<Int> {
  fileprivate func count(where isCounted: (Int) throws -> Bool) rethrows -> Int {
    try reduce(0) { try $0 + (isCounted($1) ? 1 : 0) }
  }
}
