import Bytes

/// A word, quoted text or sign in an expression.
struct ConditionToken: Hashable {
  enum Kind: Hashable {
    case word(String)
    case text(String)
    case sign(Sign)
    case end
  }

  /// A sign; longer signs come before their prefixes, because the first match wins.
  enum Sign: String, Hashable, CaseIterable {
    case notEqual = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case beginsWith = "^="
    case endsWith = "$="
    case contains = "*="
    case and = "&&"
    case or = "||"
    case equal = "="
    case less = "<"
    case greater = ">"
    case not = "!"
    case open = "("
    case close = ")"
    case comma = ","

    /// The word that means the same, in any case of letters; `nil` if there is none.
    var word: ByteString? {
      switch self {
      case .and: ByteString("and")
      case .or: ByteString("or")
      case .not: ByteString("not")
      default: nil
      }
    }
  }

  let kind: Kind
  /// The position in the expression, in bytes.
  let range: Range<Int>
}

/// Splits an expression into tokens.
struct ConditionLexer {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Returns the next token; at the end always ``ConditionToken/Kind/end``.
  mutating func next() throws(ConditionError) -> ConditionToken {
    while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    guard position < bytes.count else {
      return ConditionToken(kind: .end, range: position..<position)
    }
    let start = position
    let byte = bytes[start]
    // Both kinds of quotes, since the other kind usually encloses the whole expression in a shell.
    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { return try quoted(by: byte) }
    if Self.isOfWord(byte) {
      while position < bytes.count, Self.isOfWord(bytes[position]) { position += 1 }
      return ConditionToken(
        kind: .word(String(decoding: bytes[start..<position], as: UTF8.self)),
        range: start..<position)
    }
    guard
      let sign = ConditionToken.Sign.allCases.first(where: {
        bytes[start...].starts(with: $0.rawValue.utf8)
      })
    else { throw unexpected(at: start) }
    position += sign.rawValue.utf8.count
    return ConditionToken(kind: .sign(sign), range: start..<position)
  }

  /// Reads text up to the closing quote; `\` escapes a quote or another `\`.
  private mutating func quoted(by quote: UInt8) throws(ConditionError) -> ConditionToken {
    let start = position
    var text: [UInt8] = []
    position += 1
    while position < bytes.count, bytes[position] != quote {
      if bytes[position] == UInt8(ascii: "\\") {
        position += 1
        guard position < bytes.count, [quote, UInt8(ascii: "\\")].contains(bytes[position]) else {
          // In a shell, backslashes are easily lost or doubled. Taking an unknown escape literally
          // would hide that.
          throw ConditionError(
            "a '\\' in quotes must be followed by a quote or another '\\'",
            at: (position - 1)..<position, hint: "use '\\\\' for a literal backslash")
        }
      }
      text.append(bytes[position])
      position += 1
    }
    guard position < bytes.count else {
      throw ConditionError("the closing quote is missing", at: start..<(start + 1))
    }
    position += 1
    return ConditionToken(
      kind: .text(String(decoding: text, as: UTF8.self)), range: start..<position)
  }

  private func unexpected(at start: Int) -> ConditionError {
    var end = start + 1
    // Point at a whole character, not at one of its bytes.
    while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
    let hint: String? =
      switch bytes[start] {
      case UInt8(ascii: "&"): "use '&&' for 'and'"
      case UInt8(ascii: "|"): "use '||' for 'or'"
      case UInt8(ascii: "^"), UInt8(ascii: "$"), UInt8(ascii: "*"):
        "operators are \(ConditionOperator.list(ConditionOperator.allCases)); quote text that contains"
          + " other symbols"
      default: "quote text that contains anything but letters, digits and . _ : / + - % @ ~"
      }
    return ConditionError(
      "unexpected character", at: start..<end, hint: hint)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "%"), UInt8(ascii: "@"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
