import Administration
import Bytes
import Foundation
import ResponseStorage
import TestSupport
import Testing

@Suite struct TOMLReaderTests {
  @Test func `documents have the meaning that tomllib gives them`() throws {
    let documents = (0..<6_000 as Range<UInt64>).map(Self.document)
    let expected = try Self.readByPython(documents)
    try #require(expected.count == documents.count)
    var (read, differing) = (0, [String]())
    for (document, line) in zip(documents, expected) {
      do throws(TOMLError) {
        let found = Self.json(.table(try TOMLReader.read(document)))
        read += 1
        if found != line { differing.append(String(decoding: document, as: UTF8.self)) }
      } catch {
        // Dates, fractions and non-decimal numbers are not supported. Python also accepts integers of more than 64
        // bits, which TOML does not require.
        let word = String(decoding: document[error.range], as: UTF8.self)
        let isLeftOut = word.contains(/^[-+]?(inf|nan|[0-9].*[-.:eExob].*|[0-9_]{19,})$/)
        if line != "null", !isLeftOut {
          differing.append(String(decoding: document, as: UTF8.self))
        }
      }
    }
    #expect(differing == [])
    #expect(read > 1_500)
  }

  @Test(arguments: [
    ("a = 1\nb = x\n", 10, "expected quoted text, a whole number, true or false"),
    ("a = 1\na = 2", 6, "duplicate key"),
    ("[a]\n[a]", 5, "duplicate table"),
    ("a = \"x", 4, "the closing quote is missing on this line"),
    ("a = \"\"\"x", 4, "the closing quotes are missing"),
    (
      "a = \"\\q\"", 5,
      "unknown escape sequence; in single quotes ('…') a '\\' is literal"
    ),
    ("a = \"\\uD800\"", 5, "not a valid Unicode character"),
    ("a 1", 2, "expected '=' after the key"),
    ("a = [1 2]", 7, "expected ',' or ']' in the array"),
    ("a = 1 b", 6, "expected the end of the line"),
    ("[a", 2, "expected ']' at the end of the header"), ("a = ", 4, "expected a value"),
    ("= 1", 0, "expected a key"),
    ("a = 2026-01-31", 4, "expected quoted text, a whole number, true or false"),
    ("a = {b = 1}\na.c = 2", 12, "this key already has a value that cannot be extended"),
    ("a = 1\n[a.b]", 7, "this key already has a value that is not a table"),
    ("a = []\n[[a]]", 9, "this key already has a value that is not an array of tables"),
    (
      "a = 9223372036854775808", 4,
      "expected quoted text, a whole number, true or false"
    ),
    ("a = \"\u{7}\"", 5, "invalid UTF-8 or a control character"),
    ("a = 1\rb = 2", 5, "invalid UTF-8 or a control character"),
  ])
  func `an error has a location`(_ text: String, _ place: Int, _ reason: String) {
    let error = #expect(throws: TOMLError.self) { try TOMLReader.read(Array(text.utf8)) }
    #expect(error?.range.lowerBound == place)
    #expect(error?.reason == reason)
  }

  @Test func `depth and length are bounded`() {
    let deep = [
      String(repeating: "[", count: 100_000), "a = " + String(repeating: "[", count: 100_000),
      "a = " + String(repeating: "{a=", count: 100_000),
      Array(repeating: "a", count: 100_000).joined(separator: ".") + " = 1",
      "[" + Array(repeating: "a", count: 100_000).joined(separator: ".") + "]",
      "a = " + String(repeating: "[", count: 17) + String(repeating: "]", count: 17),
      String(repeating: "#", count: TOMLReader.mostBytes + 1),
    ]
    for text in deep {
      #expect(throws: TOMLError.self) { try TOMLReader.read(Array(text.utf8)) }
    }
    let allowed = "a = " + String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
    #expect(throws: Never.self) { try TOMLReader.read(Array(allowed.utf8)) }
    let many =
      String(repeating: "[[a]]\n", count: 30_000) + (0..<30_000).map { "k\($0)=1\n" }.joined()
    #expect(throws: Never.self) { try TOMLReader.read(Array(many.utf8)) }
  }

  /// Returns a document assembled from random pieces, and often damaged.
  private static func document(seed: UInt64) -> [UInt8] {
    var random = SplitMix64(seed: seed)
    let keys = [
      "a", "b", "c", "a.b", "a.c", "b.\"x y\"", "'q'", "a . b", "\"\\u0061\"", "e\u{301}", "\"é\"",
    ]
    let values = [
      "1", "-7", "+1_000", "0", "00", "1__0", "true", "false", "\"x\"", "'x\\y'",
      "\"\\t\\u00e9\\\\\"",
      "\"\"\"\nx\"\"y\\\n  z\"\"\"\"", "'''\r\nx''y''''", "[]", "[1, 2,]", "[ # c\n 1 ,\n]", "{}",
      "{a = 1}", "{a.b = 1, a.c = [2]}", "[{a=1},{b=2}]", "1.5", "2026-01-31", "inf", "{a=1,}",
      "\"\"",
      "9223372036854775807", "9223372036854775808", "-0",
    ]
    let pick = { (list: [String], random: inout SplitMix64) in
      list.randomElement(using: &random) ?? ""
    }
    var text = ""
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...5:
        text += pick(keys, &random) + pick([" = ", "=", "\t=  "], &random) + pick(values, &random)
      case 6, 7: text += "[" + pick(keys, &random) + "]"
      case 8: text += "[[" + pick(keys, &random) + "]]"
      default: text += pick(["# é", " ", "\t# x"], &random)
      }
      text += pick(["\n", "\n", "\n", "\r\n", " # c\n", "  \n\n"], &random)
    }
    var bytes = Array(text.utf8)
    if Int.random(in: 0..<3, using: &random) == 0 {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let other = Array("[]{}=.,\"'\\#\n\r a1_\u{7}".utf8).randomElement(using: &random) ?? 0
      if Bool.random(using: &random) {
        bytes[place] = other
      } else {
        bytes.insert(other, at: place)
      }
    }
    return bytes
  }

  /// Returns the contents of documents as JSON, or `null`, from Python.
  private static func readByPython(_ documents: [[UInt8]]) throws -> [String] {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(documents.map { Data($0).base64EncodedString() }.joined(separator: "\n").utf8).write(
      to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(components: "..", "Scripts", "read_toml.py")
    process.arguments = ["python3", script.path(), file.path()]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Returns a value as Python's `json` writes it with sorted keys.
  private static func json(_ content: TOMLValue.Content) -> String {
    switch content {
    case .text(let text): quoted(text)
    case .integer(let number): "\(number)"
    case .boolean(let flag): flag ? "true" : "false"
    case .array(let values): "[" + values.map { json($0.content) }.joined(separator: ",") + "]"
    case .table(let table):
      "{"
        + table.members.sorted { $0.key < $1.key }
        .map { quoted($0.key.string ?? "") + ":" + json($0.value.content) }.joined(separator: ",")
        + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escapes: [UInt16: String] = [
      0x22: "\\\"", 0x5C: "\\\\", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r",
    ]
    let units = text.utf16.map { unit in
      escapes[unit]
        ?? ((0x20..<0x7F).contains(unit)
          ? String(UnicodeScalar(UInt8(unit))) : "\\u" + String(format: "%04x", Int(unit)))
    }
    return "\"" + units.joined() + "\""
  }
}
