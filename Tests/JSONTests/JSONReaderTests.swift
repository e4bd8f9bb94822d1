import JSON
import Testing

@Suite struct JSONReaderTests {
  /// Skips through a document, and returns the error, if any.
  private func error(in document: String, inPiecesOf length: Int = 1 << 16) -> String? {
    var rest = Array(document.utf8)[...]
    var reader = JSONReader { _ in
      defer { rest = rest.dropFirst(length) }
      return Array(rest.prefix(length))
    }
    do {
      try reader.skip()
      try reader.end()
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func string(_ literal: String) throws -> String {
    var reader = JSONReader(Array(literal.utf8))
    return String(decoding: try reader.string(), as: UTF8.self)
  }

  @Test func `strings end, and escapes begin, at any place`() throws {
    for length in 0..<40 {
      let plain = String(repeating: "\u{7F}!#[]\u{80}\u{FF}é ~", count: 5).prefix(length)
      #expect(try string("\"\(plain)\"x") == String(plain))
      #expect(try string("\"\(plain)\\n\(plain)\"\\\"") == "\(plain)\n\(plain)")
      #expect(error(in: "\"\(plain)\u{1F}\"")?.hasPrefix("unescaped control character") == true)
    }
  }

  @Test(arguments: [
    "null", " true ", "false", "0", "-0", "12", "-1.5", "1e9", "1E+9", "0.5e-3", "\"\"", "\"a\"",
    "[]", "[ ]", "[1]", "[1 , 2]", "{}", "{ }", "{\"a\":1}", "{ \"a\" : [ { } ] , \"b\" : null }",
    "\"\\u00e9\\n\\/\"", "[[[[[]]]]]", "\n\t\r[]\n",
  ])
  func `a document is read in one piece and byte by byte`(document: String) {
    #expect(error(in: document) == nil)
    #expect(error(in: document, inPiecesOf: 1) == nil)
  }

  @Test(arguments: [
    ("", "unexpected end at byte 0"), ("nul", "unexpected end at byte 3"),
    ("nulx", "expected 'null' at byte 0"),
    ("tru ", "expected 'true' at byte 0"), ("01", "expected a value at byte 0"),
    ("-", "expected a value at byte 0"),
    ("1.", "expected a value at byte 0"), (".5", "expected a value at byte 0"),
    ("1e", "expected a value at byte 0"),
    ("+1", "expected a value at byte 0"), ("NaN", "expected a value at byte 0"),
    ("[1,]", "expected a value at byte 3"),
    ("[1 2]", "expected ',' at byte 3"), ("[1", "expected ',' at byte 2"),
    ("{\"a\" 1}", "expected ':' at byte 5"),
    ("{\"a\":1,}", "expected '\"' at byte 7"), ("{a:1}", "expected '\"' at byte 1"),
    ("{\"a\":}", "expected a value at byte 5"),
    ("[] []", "unexpected text after the document at byte 3"),
    ("\"a", "unexpected end at byte 2"),
    ("\"\u{1}\"", "unescaped control character in a string at byte 1"),
    ("\"\\x\"", "unknown escape at byte 2"),
    ("\"\\u12g4\"", "expected a hexadecimal digit at byte 5"),
    ("'a'", "expected a value at byte 0"), ("]", "expected a value at byte 0"),
  ])
  func `errors are reported with their offset`(document: String, message: String) {
    #expect(error(in: document) == message)
    #expect(error(in: document, inPiecesOf: 1) == message)
  }

  @Test func `depth is bounded`() {
    let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(error(in: deep(64)) == nil)
    #expect(error(in: deep(65)) == "nested too deeply at byte 65")
    #expect(error(in: String(repeating: "[", count: 1_000_000)) == "nested too deeply at byte 65")
  }

  @Test func `an endless number or name is an error`() {
    let digits = { String(repeating: "1", count: $0) }
    #expect(error(in: digits(1_000)) == nil)
    #expect(error(in: digits(1_001)) == "the number is too long at byte 0")
    let name = { "{\"" + String(repeating: "n", count: $0) + "\":1}" }
    #expect(error(in: name(1 << 20)) == nil)
    #expect(error(in: name(2 << 20)) == "the name is too long at byte 1")
  }

  @Test(arguments: [
    ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\u{8}\u{c}\n\r\t"), ("\"\\u00E9\\u20ac\"", "é€"),
    ("\"\\ud83d\\ude00\"", "😀"), ("\"\\ud83d\"", "\u{FFFD}"), ("\"\\ude00a\"", "\u{FFFD}a"),
    ("\"\\ud83d\\n\"", "\u{FFFD}\n"), ("\"\\ud83d\\ud83d\\ude00\"", "\u{FFFD}😀"),
    ("\"\\ud83dx\"", "\u{FFFD}x"), ("\"\\ud83d\\u0041\"", "\u{FFFD}A"),
    ("\"\\ud83d\\ud83d\\ud83d\"", "\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("\"\\ud83d\\ud83dx\"", "\u{FFFD}\u{FFFD}x"),
  ])
  func `escapes are decoded`(literal: String, text: String) throws {
    #expect(try string(literal) == text)
  }

  @Test func `bytes that are not UTF-8 are passed on`() throws {
    var reader = JSONReader([0x22, 0xFF, 0xC3, 0x22])
    #expect(try reader.string() == [0xFF, 0xC3])
  }

  @Test func `integers are exact or an error`() throws {
    var reader = JSONReader(Array("[9223372036854775807,-9223372036854775808]".utf8))
    var integers: [Int64] = []
    try reader.array { integers.append(try $0.integer()) }
    #expect(integers == [.max, .min])
    for text in ["9223372036854775808", "1.0", "1e2"] {
      #expect(throws: JSONError("the number is not a 64-bit integer", at: 0)) {
        var reader = JSONReader(Array(text.utf8))
        _ = try reader.integer()
      }
    }
    #expect(throws: JSONError("the number is too large", at: 0)) {
      var reader = JSONReader(Array("1e999".utf8))
      _ = try reader.number()
    }
  }

  @Test(arguments: [3, 8, 64])
  func `a string that was read before is skipped without being read`(length: Int) throws {
    let document = Array(#"{"a": "1\"2345678901234567890", "b": [true]}"#.utf8)
    var offsets: [Int] = []
    var reader = JSONReader { offset in
      offsets.append(offset)
      return Array(document.dropFirst(offset).prefix(length))
    }
    var ends: [Int] = []
    try reader.object { reader, _ in
      try reader.skip()
      ends.append(reader.offset)
    }
    let readings = offsets.count
    offsets = []
    reader.move(to: 0)
    var values: [Bool] = []
    try reader.object { reader, name in
      guard name == Array("a".utf8) else {
        return try reader.array { values.append(try $0.boolean()) }
      }
      _ = try reader.beginningOfValue()
      try reader.skipString(endingAt: ends[0])
      #expect(reader.offset == ends[0])
    }
    #expect(values == [true])
    #expect(length == 64 || offsets.count < readings)
    reader.move(to: 0)
    #expect(throws: JSONError.self) {
      try reader.object { reader, _ in try reader.skipString(endingAt: ends[0] - 1) }
    }
  }
}
