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
    ("", 0, "it ends too early"), (" ", 1, "it ends too early"), ("[1,", 3, "it ends too early"),
    ("-", 1, "it ends too early"), ("1.", 2, "it ends too early"), ("1e+", 3, "it ends too early"),
    ("\"a", 2, "it ends too early"), ("tru", 3, "it ends too early"),
    ("{\"a\"", 4, "it ends too early"),
    ("[1,]", 3, "there is no value"), ("{\"a\":}", 5, "there is no value"),
    (",", 0, "there is no value"),
    ("+1", 0, "there is no value"), (".5", 0, "there is no value"), ("NaN", 0, "there is no value"),
    ("trUe", 2, "there is no value"), ("'a'", 0, "there is no value"),
    ("[1}", 2, "there is no comma and no end"),
    ("{\"a\":1]", 6, "there is no comma and no end"), ("[1 2]", 3, "there is no comma and no end"),
    ("[01]", 2, "there is no comma and no end"), ("{\"a\" 1}", 5, "there is no colon"),
    ("{1:2}", 1, "there is no key"), ("{\"a\":1,}", 7, "there is no key"),
    ("{,", 1, "there is no key"),
    ("1 1", 2, "there is more after the value"), ("{}\n{}", 3, "there is more after the value"),
    ("1.e1", 2, "a number is wrong"), ("-a", 1, "a number is wrong"),
    ("1ee", 2, "a number is wrong"),
    ("\"\n\"", 1, "a string is wrong"), ("\"\\x\"", 2, "a string is wrong"),
    ("\"\\u12g4\"", 5, "a string is wrong"),
    ("\u{FEFF}\u{FEFF}1", 3, "there is no value"), ("\"\u{0}\"", 1, "a string is wrong"),
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
    expectError(text, "a string is wrong at byte \(offset)")
  }

  @Test func `nesting is limited`() throws {
    let limit = JSONIndenter.deepestNesting
    let (open, close) = (
      [UInt8](repeating: 0x5B, count: limit), [UInt8](repeating: 0x5D, count: limit)
    )
    #expect(try indented(open + close).utf8.count > limit * limit)
    expectError(open + open, "more than 512 arrays and objects are in each other at byte 512")
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
        if error.reason == "there is more after the value" {
          _ = try indented(Array(changed[..<offset]))
        } else {
          expectError(
            Array(changed[..<offset]), "it ends too early at byte \(offset)", "seed \(number)")
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
