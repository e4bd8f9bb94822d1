import Rendering
import Testing

@Suite struct JSONIndenterTests {
  @Test(arguments: [
    (" 1 ", "1\n"), ("-0.0e+1", "-0.0e+1\n"), ("[]", "[]\n"), (" { } ", "{}\n"), ("\"\"", "\"\"\n"),
    ("[ ]\r\n\t", "[]\n"), ("\u{FEFF}null", "null\n"),
    (
      #"{"b":[1,-2.50,1E400,[],{}],"a":{"b":true,"a":false,"a":null}}"#,
      """
      {
        "b": [
          1,
          -2.50,
          1E400,
          [],
          {}
        ],
        "a": {
          "b": true,
          "a": false,
          "a": null
        }
      }

      """
    ),
    (
      #"["\u0041\/\"\\\ud800","é\#u{1F600}\#u{7F}",12345678901234567890.10]"#,
      """
      [
        "\\u0041\\/\\"\\\\\\ud800",
        "é\u{1F600}\u{7F}",
        12345678901234567890.10
      ]

      """
    ),
  ])
  func `only white space changes`(_ text: String, _ expected: String) throws {
    #expect(try indented(Array(text.utf8)) == expected)
    // Indenting twice changes nothing.
    #expect(try indented(Array(expected.utf8)) == expected)
  }

  @Test(arguments: [
    ("", 0, "unexpected end"), (" ", 1, "unexpected end"), ("[1,", 3, "unexpected end"),
    ("-", 1, "unexpected end"), ("1.", 2, "unexpected end"), ("1e+", 3, "unexpected end"),
    ("\"a", 2, "unexpected end"), ("tru", 3, "unexpected end"),
    ("{\"a\"", 4, "unexpected end"),
    ("[1,]", 3, "expected a value"), ("{\"a\":}", 5, "expected a value"),
    (",", 0, "expected a value"),
    ("+1", 0, "expected a value"), (".5", 0, "expected a value"), ("NaN", 0, "expected a value"),
    ("trUe", 2, "expected a value"), ("'a'", 0, "expected a value"),
    ("[1}", 2, "expected a comma or a closing bracket"),
    ("{\"a\":1]", 6, "expected a comma or a closing bracket"),
    ("[1 2]", 3, "expected a comma or a closing bracket"),
    ("[01]", 2, "expected a comma or a closing bracket"), ("{\"a\" 1}", 5, "expected a colon"),
    ("{1:2}", 1, "expected a key"), ("{\"a\":1,}", 7, "expected a key"),
    ("{,", 1, "expected a key"),
    ("1 1", 2, "unexpected text after the value"), ("{}\n{}", 3, "unexpected text after the value"),
    ("1.e1", 2, "malformed number"), ("-a", 1, "malformed number"),
    ("1ee", 2, "malformed number"),
    ("\"\n\"", 1, "malformed string"), ("\"\\x\"", 2, "malformed string"),
    ("\"\\u12g4\"", 5, "malformed string"),
    ("\u{FEFF}\u{FEFF}1", 3, "expected a value"), ("\"\u{0}\"", 1, "malformed string"),
  ])
  func `invalid JSON is reported with its offset`(_ text: String, _ offset: Int64, _ reason: String)
  {
    expectError(Array(text.utf8), "\(reason) at byte \(offset)")
  }

  @Test(
    arguments: [
      ([0x22, 0xFF], 1), ([0x22, 0x80], 1), ([0x22, 0xC1, 0x80], 1), ([0x22, 0xC3, 0x22], 2),
      ([0x22, 0xE0, 0x9F, 0xBF], 2), ([0x22, 0xED, 0xA0, 0x80], 2),
      ([0x22, 0xF4, 0x90, 0x80, 0x80], 2),
      ([0x22, 0xF0, 0x9F, 0x98, 0x22], 4), ([0x22, 0xF5], 1),
    ] as [([UInt8], Int)])
  func `invalid UTF-8 is reported with its offset`(_ text: [UInt8], _ offset: Int) {
    expectError(text, "malformed string at byte \(offset)")
  }

  @Test func `nesting is limited`() throws {
    let limit = JSONIndenter.deepestNesting
    let (open, close) = (
      [UInt8](repeating: 0x5B, count: limit), [UInt8](repeating: 0x5D, count: limit)
    )
    #expect(try indented(open + close).utf8.count > limit * limit)
    expectError(open + open, "nested more than 512 levels deep at byte 512")
  }

  @Test func `pieces of any length give the same result`() throws {
    let text = Array(#" [{"aé\u00e9\n":[-1.5e-7,true,[],"x\#u{10FFFF}"]} , null] "#.utf8)
    let whole = try indented(text)
    for length in 1...text.count {
      #expect(try indented(text, pieces: length) == whole, "\(length)")
    }
  }

  /// Changes random bytes of a text, and cuts it at the reported error: up to there it must be a prefix of some valid
  /// text, and with one more byte it must not be.
  @Test func `an error is located where a text stops being a valid prefix`() throws {
    let text = Array(#"[{"ab":[1.5e+7,true,"\u00e9é"],"c":{}},null,false,-0]"#.utf8)
    var errors = 0
    for number in 0..<5_000 as Range<UInt64> {
      let seed = number &* 0x9E37_79B9_7F4A_7C15
      var changed = text
      changed[Int(seed % UInt64(text.count))] = UInt8(truncatingIfNeeded: seed >> 32)
      do { _ = try indented(changed) } catch let error as JSONSyntaxError {
        errors += 1
        let offset = Int(error.offset)
        if error.reason == "unexpected text after the value" {
          _ = try indented(Array(changed[..<offset]))
        } else {
          expectError(
            Array(changed[..<offset]), "unexpected end at byte \(offset)", "seed \(number)")
        }
        if offset < changed.count {
          expectError(Array(changed[...offset]), "\(error)", "seed \(number)")
        }
      }
    }
    #expect(errors > 2_000)
  }

  private func indented(_ text: [UInt8], pieces length: Int = .max) throws -> String {
    var indenter = JSONIndenter()
    var buffer = TextBuffer()
    var rest = text[...]
    while !rest.isEmpty {
      try indenter.append(rest.prefix(length), into: &buffer)
      rest = rest.dropFirst(length)
    }
    try indenter.finish(into: &buffer)
    return Samples.text(buffer)
  }

  private func expectError(_ text: [UInt8], _ error: String, _ comment: String = "") {
    #expect("\(comment)") { try indented(text) } throws: { "\($0)" == error }
  }
}
