import Administration
import Bytes
import Matching
@testable import Rendering
import ResponseStorage
import Testing

@Suite struct MaskedLineTests {
  private struct Masked: Hashable {
    var text: String
    var matches: [String]
  }

  /// Returns a line of a body with secrets masked, and its matches as text.
  private func masked(
    _ text: String, finding part: String, _ place: SearchedPlace = .body, field: ByteString? = nil,
    hasStart: Bool = true, hasEnd: Bool = true
  ) throws -> Masked {
    let bytes = Array(text.utf8)
    var matches: [Range<Int>] = []
    let search = LiteralSearch(ByteString(part))
    while let start = search.firstIndex(in: bytes.span, from: matches.last?.upperBound ?? 0) {
      matches.append(start..<start + part.utf8.count)
    }
    let line = MatchedLine(bytes: bytes, matches: matches, hasStart: hasStart, hasEnd: hasEnd)
    let hit = EntrySearch.Hit(place: place, fieldName: field, line: line)
    let masked = MaskedLine(hit, SecretPolicy(), for: .people)
    return Masked(
      text: String(decoding: masked.text, as: UTF8.self),
      matches: masked.matches.map { String(decoding: masked.text[$0], as: UTF8.self) })
  }

  @Test(
    arguments: [
      (#"{"n":1,"password":"x y","b":2}"#, #"{"n":1,"password":"***","b":2}"#),
      (#"{"apiKey" : "abc\"d", "n": 1}"#, #"{"apiKey" : "***", "n": 1}"#),
      (#"{"pin":1234,"n":1}"#, #"{"pin":***,"n":1}"#),
      (#"{"q":"{\"token\":\"abc\"}","n":1}"#, #"{"q":"{\"token\":\"***\"}","n":1}"#),
      ("a=1&access_token=abc&n=1", "a=1&access_token=***&n=1"),
      (
        "<a href=\"https://u:p@a.example/?sig=abc&n=1\">n",
        "<a href=\"https://***@a.example/?sig=***&n=1\">n"
      ),
      ("h: Bearer abcdefgh1234567, n", "h: Bearer ***, n"),
      ("the bearer understanding n", "the bearer understanding n"),
      ("session: abc\tn", "session: ***\tn"), ("n nothing secret: here", "n nothing secret: ***"),
    ])
  func `secrets are masked, and the text around them is not`(_ text: String, _ wanted: String)
    throws
  {
    let line = try masked(text, finding: "n")
    let (shown, matches) = (line.text, line.matches)
    #expect(shown == wanted)
    #expect(!matches.isEmpty && matches.allSatisfy { $0 == "n" || $0 == "***" })
  }

  @Test func `a match in a secret is its replacement`() throws {
    let text = #"{"token":"abcabc","n":"abc"}"#
    let line = try masked(text, finding: "abc")
    let (shown, matches) = (line.text, line.matches)
    #expect(shown == #"{"token":"***","n":"abc"}"#)
    #expect(matches == ["***", "***", "abc"])
    // One that reaches into a secret includes the replacement.
    #expect(try masked(text, finding: #"en":"ab"#).matches == [#"en":"***"#])
    #expect(try masked(text, finding: #"bc","n"#).matches == [#"***","n"#])
  }

  @Test func `places have their own masks`() throws {
    #expect(
      try masked("a=1&n=2", finding: "n", .requestBody) == Masked(text: "***", matches: ["***"]))
    #expect(
      try masked("Set-Cookie: n=1", finding: "n", .response, field: "Set-Cookie")
        == Masked(text: "Set-Cookie: ***", matches: ["***"]))
    #expect(
      try masked("X-Note: n", finding: "n", .request, field: "X-Note")
        == Masked(text: "X-Note: n", matches: ["n"]))
    #expect(
      try masked("https://a.example/n?token=n", finding: "n", .url)
        == Masked(text: "https://a.example/n?token=***", matches: ["n", "n", "***"]))
  }

  @Test func `words at the ends of a part may be secret`() throws {
    let line = try masked("abc n def", finding: "n", hasStart: false, hasEnd: false)
    #expect(line == Masked(text: "*** n ***", matches: ["n"]))
  }
}
