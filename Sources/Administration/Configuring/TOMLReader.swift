import Bytes
import ResponseStorage

/// A reader for the part of TOML 1.0 that configuration files need: everything except dates, floats, and integers that
/// are not decimal.
///
/// Documents that it accepts mean the same as in TOML; each value has its place.
public struct TOMLReader {
  /// The maximum size of a document, in bytes.
  public static let mostBytes = 1 << 20
  // TOML itself has no limit. The Swift library that was tried accepted a header of 100,000 parts,
  // and had used up the memory a minute later.
  /// The maximum number of parts of a key, and the maximum nesting of values; protects the stack.
  static let mostDepth = 16

  let bytes: [UInt8]
  var position = 0
  var depth = 0

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Reads a document.
  public static func read(_ bytes: [UInt8]) throws(TOMLError) -> TOMLTable {
    guard bytes.count <= mostBytes else {
      throw TOMLError("the file is larger than 1 MiB", at: 0..<0)
    }
    // TOML is UTF-8 without control characters. Refusing them first also keeps escape sequences out
    // of error messages, which quote the file.
    if let place = firstByteThatIsNoText(bytes) {
      throw TOMLError(
        "invalid UTF-8 or a control character", at: place..<(place + 1))
    }
    var reader = TOMLReader(bytes)
    // Some editors write a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    return try reader.document()
  }

  private mutating func document() throws(TOMLError) -> TOMLTable {
    let root = TOMLNode(.table(.declared), at: 0..<0)
    var (table, section) = (root, 0)
    while true {
      skipBlanksAndLines()
      guard position < bytes.count else { return root.table }
      if bytes[position] == UInt8(ascii: "[") {
        section += 1
        table = try header(in: root)
      } else {
        let path = try key()
        try expect("=", "expected '=' after the key")
        skipBlanks()
        try table.set(path, try value(), section: section)
      }
      try endOfLine()
    }
  }

  private mutating func header(in root: TOMLNode) throws(TOMLError) -> TOMLNode {
    position += 1
    let isArray = consume("[")
    let path = try key()
    try expect("]", "expected ']' at the end of the header")
    guard isArray else { return try root.declare(path) }
    guard consume("]") else { throw failure("expected ']]' at the end of the header") }
    return try root.append(path)
  }

  /// Reads a key, possibly dotted, with the whitespace around it.
  mutating func key() throws(TOMLError) -> [TOMLKey] {
    var path: [TOMLKey] = []
    repeat {
      guard path.count < Self.mostDepth else {
        throw failure("the key has more than \(Self.mostDepth) parts")
      }
      skipBlanks()
      path.append(try simpleKey())
      skipBlanks()
    } while consume(".")
    return path
  }

  private mutating func simpleKey() throws(TOMLError) -> TOMLKey {
    let start = position
    switch bytes.indices.contains(position) ? bytes[position] : 0 {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      let name = try quoted()
      return TOMLKey(name: ByteString(name), range: start..<position)
    default:
      while position < bytes.count, Self.isOfBareKey(bytes[position]) { position += 1 }
      guard position > start else { throw failure("expected a key") }
      return TOMLKey(name: ByteString(Array(bytes[start..<position])), range: start..<position)
    }
  }

  private mutating func endOfLine() throws(TOMLError) {
    skipBlanks()
    skipComment()
    guard position >= bytes.count || consumeLine() else {
      throw failure("expected the end of the line")
    }
  }
}

extension TOMLReader {
  /// Returns an error at the current position: the character there, or the end of the file.
  func failure(_ reason: String) -> TOMLError {
    guard position < bytes.count, bytes[position] != UInt8(ascii: "\n") else {
      return TOMLError(reason, at: position..<position)
    }
    var end = position + 1
    while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
    return TOMLError(reason, at: position..<end)
  }

  /// Consumes a character if it is at the current position.
  mutating func consume(_ sign: Unicode.Scalar) -> Bool {
    guard position < bytes.count, UInt32(bytes[position]) == sign.value else { return false }
    position += 1
    return true
  }

  mutating func expect(_ sign: Unicode.Scalar, _ reason: String) throws(TOMLError) {
    skipBlanks()
    guard consume(sign) else { throw failure(reason) }
  }

  mutating func skipBlanks() {
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 {
      position += 1
    }
  }

  mutating func skipBlanksAndLines() {
    repeat {
      skipBlanks()
      skipComment()
    } while consumeLine()
  }

  mutating func skipComment() {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "#") else { return }
    while position < bytes.count, !isAtLine { position += 1 }
  }

  /// Consumes a line break.
  mutating func consumeLine() -> Bool {
    guard isAtLine else { return false }
    position += bytes[position] == UInt8(ascii: "\r") ? 2 : 1
    return true
  }

  /// Whether there is a line break at the current position; a lone carriage return is none.
  private var isAtLine: Bool {
    guard position < bytes.count else { return false }
    if bytes[position] == UInt8(ascii: "\n") { return true }
    return bytes[position] == UInt8(ascii: "\r")
      && bytes[(position + 1)...].first == UInt8(ascii: "\n")
  }

  static func isOfBareKey(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Returns the position of the first byte that is not allowed in a document.
  private static func firstByteThatIsNoText(_ bytes: [UInt8]) -> Int? {
    var rest = bytes[...]
    while let byte = rest.first {
      let place = rest.startIndex
      let next = rest.dropFirst().first
      switch byte {
      case 0x09, 0x0A, 0x20...0x7E: rest = rest.dropFirst()
      // A lone carriage return is a control character in TOML. On a terminal, it would hide the
      // text before it.
      case 0x0D where next == 0x0A: rest = rest.dropFirst()
      case 0xC2...0xF4:
        let (scalar, length) = rest.scalar(at: place)
        guard scalar != nil else { return place }
        rest = rest.dropFirst(length)
      default: return place
      }
    }
    return nil
  }
}

extension TOMLReader {
  /// Reads a string in single or triple quotes.
  mutating func text() throws(TOMLError) -> String {
    let quote = bytes[position]
    guard bytes[position...].starts(with: [quote, quote, quote]) else { return try quoted() }
    let start = position
    position += 3
    // TOML trims a line break directly after the opening quotes.
    _ = consumeLine()
    var text: [UInt8] = []
    while position < bytes.count {
      // In TOML, up to two quotes of the text may precede the three closing quotes.
      let quotes = bytes[position...].prefix(5).prefix { $0 == quote }.count
      if quotes >= 3 {
        text += repeatElement(quote, count: quotes - 3)
        position += quotes
        return String(decoding: text, as: UTF8.self)
      }
      if bytes[position] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        if !skipEndedLine() { try escaped(into: &text) }
      } else {
        text.append(bytes[position])
        position += 1
      }
    }
    throw TOMLError("the closing quotes are missing", at: start..<(start + 3))
  }

  /// Reads a string in single quotes, which must end on the same line.
  mutating func quoted() throws(TOMLError) -> String {
    let start = position
    let quote = bytes[position]
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n"),
      bytes[position] != UInt8(ascii: "\r")
    {
      if consume(Unicode.Scalar(quote)) { return String(decoding: text, as: UTF8.self) }
      if bytes[position] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        try escaped(into: &text)
      } else {
        text.append(bytes[position])
        position += 1
      }
    }
    throw TOMLError("the closing quote is missing on this line", at: start..<(start + 1))
  }

  /// Skips a `\` at the end of a line, and all whitespace and line breaks after it.
  private mutating func skipEndedLine() -> Bool {
    let start = position
    position += 1
    skipBlanks()
    guard consumeLine() else {
      position = start
      return false
    }
    repeat { skipBlanks() } while consumeLine()
    return true
  }

  /// Reads an escape sequence.
  private mutating func escaped(into text: inout [UInt8]) throws(TOMLError) {
    let start = position
    position += 1
    let sign = position < bytes.count ? bytes[position] : 0
    position += 1
    switch sign {
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(sign)
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let digits = bytes[min(position, bytes.count)...].prefix(sign == UInt8(ascii: "u") ? 4 : 8)
      position += digits.count
      guard digits.count == (sign == UInt8(ascii: "u") ? 4 : 8),
        // `UInt32(_:radix:)` also accepts a sign.
        digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
        let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
        let scalar = Unicode.Scalar(number)
      else {
        throw TOMLError(
          "not a valid Unicode character", at: start..<min(position, bytes.count))
      }
      text += String(scalar).utf8
    default:
      throw TOMLError(
        "unknown escape sequence; in single quotes ('…') a '\\' is literal",
        at: start..<min(position, bytes.count))
    }
  }
}

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
