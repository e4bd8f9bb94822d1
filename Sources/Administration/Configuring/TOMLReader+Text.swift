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
