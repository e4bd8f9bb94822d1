import Bytes
import ResponseStorage

extension TOMLReader {
  /// Reads a value.
  mutating func value() throws(TOMLError) -> TOMLValue {
    let start = position
    guard position < bytes.count else { throw failure("expected a value") }
    let content: TOMLValue.Content
    switch bytes[position] {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): content = .text(try text())
    case UInt8(ascii: "["):
      content = .array(try nested { reader throws(TOMLError) in try reader.array() })
    case UInt8(ascii: "{"):
      content = .table(try nested { reader throws(TOMLError) in try reader.inlineTable() })
    default: content = try word()
    }
    return TOMLValue(content: content, range: start..<position)
  }

  /// Reads an array or inline table, unless it is nested too deeply.
  private mutating func nested<Result>(
    _ read: (inout TOMLReader) throws(TOMLError) -> Result
  ) throws(TOMLError) -> Result {
    guard depth < Self.mostDepth else {
      throw failure("values are nested more than \(Self.mostDepth) levels deep")
    }
    depth += 1
    defer { depth -= 1 }
    position += 1
    return try read(&self)
  }

  private mutating func array() throws(TOMLError) -> [TOMLValue] {
    var values: [TOMLValue] = []
    while true {
      skipBlanksAndLines()
      if consume("]") { return values }
      values.append(try value())
      skipBlanksAndLines()
      if consume("]") { return values }
      guard consume(",") else { throw failure("expected ',' or ']' in the array") }
    }
  }

  private mutating func inlineTable() throws(TOMLError) -> TOMLTable {
    let root = TOMLNode(.table(.declared), at: position..<position)
    skipBlanks()
    if consume("}") { return root.table }
    while true {
      let path = try key()
      try expect("=", "expected '=' after the key")
      skipBlanks()
      try root.set(path, try value(), section: 0)
      skipBlanks()
      if consume("}") { return root.table }
      guard consume(",") else {
        throw failure("expected ',' or '}' in the inline table")
      }
    }
  }

  /// Reads `true`, `false` or a number.
  private mutating func word() throws(TOMLError) -> TOMLValue.Content {
    let start = position
    while position < bytes.count,
      // Include `+`, `.` and `:`, so that an error marks all of a date or a fraction, which are
      // TOML but not supported.
      Self.isOfBareKey(bytes[position]) || [0x2B, 0x2E, 0x3A].contains(bytes[position])
    {
      position += 1
    }
    let word = bytes[start..<position]
    guard !word.isEmpty else { throw failure("expected a value") }
    if word.elementsEqual("true".utf8) { return .boolean(true) }
    if word.elementsEqual("false".utf8) { return .boolean(false) }
    if let number = Self.integer(word) { return .integer(number) }
    throw TOMLError(
      "expected quoted text, a whole number, true or false", at: start..<position)
  }

  /// Parses a decimal integer; `_` is allowed between digits.
  private static func integer(_ word: ArraySlice<UInt8>) -> Int64? {
    let isSigned = word.first == UInt8(ascii: "-") || word.first == UInt8(ascii: "+")
    let parts = word.dropFirst(isSigned ? 1 : 0)
      .split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    let digits = Array(parts.joined())
    guard parts.allSatisfy({ !$0.isEmpty }),
      digits.allSatisfy(\.isASCIIDigit),
      // TOML forbids leading zeros, which some languages read as octal.
      digits.count == 1 || digits.first != UInt8(ascii: "0")
    else { return nil }
    let sign = word.first == UInt8(ascii: "-") ? "-" : ""
    return Int64(sign + String(decoding: digits, as: UTF8.self))
  }
}
