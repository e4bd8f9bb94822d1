import Administration
import Testing

@Suite struct URLExpressionTests {
  @Test func `the whole text must match, with every matcher`() throws {
    let texts = ["abc", "b", String(repeating: "a", count: 1_000)]
    // The first has no repetitions, the second few alternatives, and the others run on the worker.
    let cases: KeyValuePairs = [
      "a.c": [true, false, false],
      ".*b.*": [true, true, false],
      "(a|b|c)+": [true, true, true],
      ".*a.*c.*": [true, false, false],
    ]
    for (pattern, wanted) in cases {
      let expression = try URLExpression(pattern)
      #expect(try texts.map { try expression.matches($0) } == wanted, "\(pattern)")
    }
    #expect(throws: (any Error).self) { try URLExpression("(") }
  }

  @Test(arguments: ["(a+)+b", "(a|a)*b", "a*a*a*a*a*a*a*a*a*a*b"])
  func `matching with too much backtracking is aborted`(pattern: String) throws {
    // The worker continues after the limit, so a longer text would keep a processor busy until the last test ends.
    let expression = try URLExpression(pattern, limit: 20)
    let text = String(repeating: "a", count: 20)
    let overrun = #expect(throws: URLExpression.Overrun.self) { try expression.matches(text) }
    #expect(overrun?.pattern == pattern)
    #expect(overrun?.textLength == 20 && overrun?.milliseconds == 20)
    // Another expression does not wait for it.
    #expect(try URLExpression("(a+)+").matches(text))
  }
}
