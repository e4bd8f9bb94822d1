import Bytes

/// A recursive descent parser for conditions.
///
/// ```
/// whole      = any end
/// any        = all *( or all )
/// all        = part *( and part )
/// part       = not part / "(" any ")" / comparison
/// or         = "||" / "or"
/// and        = "&&" / "and"
/// not        = "!" / "not"
/// comparison = subject operator value / subject "in" "(" value *( "," value ) ")"
/// subject    = field / field "(" name ")"
/// ```
struct ConditionParser {
  /// Notes for the user about values.
  private(set) var notes: [String] = []
  private var lexer: ConditionLexer
  /// The next token.
  private var token: ConditionToken
  private var depth = 0

  /// The maximum nesting of parentheses and `!`; protects the stack.
  static let mostDepth = 64

  init(_ text: String) throws(ConditionError) {
    lexer = ConditionLexer(text)
    token = try lexer.next()
  }

  /// Parses the whole expression.
  mutating func whole() throws(ConditionError) -> Condition.Expression {
    let expression = try any()
    guard token.kind == .end else {
      throw ConditionError(
        "expected '&&', '||' or the end of the expression", at: token.range, hint: Self.joining)
    }
    return expression
  }

  private mutating func any() throws(ConditionError) -> Condition.Expression {
    var parts = [try all()]
    while try consume(.or) { parts.append(try all()) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func all() throws(ConditionError) -> Condition.Expression {
    var parts = [try part()]
    while try consume(.and) { parts.append(try part()) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func part() throws(ConditionError) -> Condition.Expression {
    let first = token
    guard isNext(.not) || isNext(.open) else { return try comparison() }
    // Conditions also come from configurations, which may be shared by many machines. A stack that
    // overflows ends the process without a message.
    guard depth < Self.mostDepth else {
      throw ConditionError(
        "parentheses are nested more than \(Self.mostDepth) levels deep", at: first.range)
    }
    depth += 1
    defer { depth -= 1 }
    if try consume(.not) { return .not(try part()) }
    _ = try consume(.open)
    let inner = try any()
    guard try consume(.close) else {
      guard token.kind == .end else {
        throw ConditionError(
          "expected ')' before this", at: token.range, hint: Self.joining)
      }
      throw ConditionError("'(' has no matching ')'", at: first.range)
    }
    return inner
  }

  private mutating func comparison() throws(ConditionError) -> Condition.Expression {
    let field = try subject()
    let sign = try comparisonOperator(of: field)
    guard sign == .oneOf else {
      let value = try value(of: field, sign)
      let test = Condition.Test(sign, value)
      let comparison = Condition.Expression.compare(field, test)
      // `!=` negates `=`, so that an unknown value stays unknown.
      return sign == .notEqual ? .not(comparison) : comparison
    }
    guard try consume(.open) else {
      throw ConditionError(
        "'in' must be followed by a list", at: token.range,
        hint: "use a list such as 'in (404, 5xx)'"
      )
    }
    var values = [try value(of: field, sign)]
    while try consume(.comma) { values.append(try value(of: field, sign)) }
    guard try consume(.close) else {
      throw ConditionError(
        "expected ',' or ')' in the list", at: token.range)
    }
    return .compare(field, Condition.Test(equalsAny: values))
  }

  private mutating func subject() throws(ConditionError) -> EntryField {
    var field = try field()
    guard field.takesKey else { return field }
    let hint = "write \(field.name)(\"NAME\")"
    guard try consume(.open) else {
      throw ConditionError(
        "'\(field.name)' must be followed by a name in parentheses", at: token.range, hint: hint
      )
    }
    let name: String
    switch token.kind {
    case .word(let text), .text(let text): name = text
    case .sign, .end:
      throw ConditionError("expected a name before this", at: token.range, hint: hint)
    }
    token = try lexer.next()
    guard try consume(.close) else {
      throw ConditionError("expected ')' after the name", at: token.range, hint: hint)
    }
    field.key = ByteString(name)
    return field
  }

  /// Parses the name of a field; `_` is accepted for `-`.
  private mutating func field() throws(ConditionError) -> EntryField {
    let names = EntryField.conditions.map(\.name)
    guard case .word(let name) = token.kind else {
      throw ConditionError(
        token.kind == .end
          ? "expected a comparison at the end" : "expected a field before this",
        at: token.range, hint: "use one of: " + Self.fields)
    }
    // JSON names the same fields with `_`, and users copy names from there.
    let word = String(
      decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    guard let field = EntryField.conditions.first(where: { $0.name == word }) else {
      let nearest = Self.synonyms[word] ?? Spelling.nearest(to: name, among: names)
      throw ConditionError(
        "unknown field '\(name)'", at: token.range,
        hint: nearest.map { "did you mean '\($0)'?" } ?? "use one of: " + Self.fields)
    }
    token = try lexer.next()
    return field
  }

  /// The fields by their names in other programs.
  private static let synonyms = [
    "type": "mime", "content-type": "mime", "domain": "host", "hostname": "host", "code": "status",
    "length": "size", "bytes": "size",
  ]

  /// All fields as users write them, separated by spaces.
  private static let fields = EntryField.conditions
    .map { $0.takesKey ? "\($0.name)(\"NAME\")" : $0.name }.joined(separator: " ")

  private mutating func comparisonOperator(
    of field: EntryField
  ) throws(ConditionError) -> ConditionOperator {
    let name: String? =
      switch token.kind {
      case .sign(let sign): sign.rawValue
      case .word(let word): word
      case .text, .end: nil
      }
    let allowed = field.kind.operators
    var hint = "'\(field.name)' accepts: " + ConditionOperator.list(allowed)
    if case .word(let word) = token.kind, ByteString(word).asciiLowercased == "like",
      allowed.contains(.contains)
    {
      hint += "; '*=' matches any part of the text, '^=' its beginning"
    }
    // The hint lists the operators of this field only, as most other fields take fewer or more.
    guard let name, let sign = ConditionOperator(rawValue: name) else {
      throw ConditionError(
        "expected an operator after '\(field.name)'", at: token.range, hint: hint)
    }
    guard allowed.contains(sign) else {
      throw ConditionError(
        "'\(field.name)' cannot be used with '\(name)'", at: token.range, hint: hint)
    }
    let end = token.range.upperBound
    token = try lexer.next()
    // Most languages write `==`, which the lexer reads as two signs.
    if sign == .equal, token.kind == .sign(.equal), token.range.lowerBound == end {
      token = try lexer.next()
    }
    return sign
  }

  private mutating func value(
    of field: EntryField, _ sign: ConditionOperator
  ) throws(ConditionError) -> ConditionValue {
    let text: String
    switch token.kind {
    case .word(let word): text = word
    case .text(let quoted): text = quoted
    case .sign, .end:
      throw ConditionError(
        "expected a value after '\(sign.rawValue)'", at: token.range,
        hint: "use \(field.kind.example)")
    }
    let value: ConditionValue
    do throws(WrittenValueError) {
      try field.check(text, sign)
      value = try ConditionValue(field.compared(text, sign), of: field.kind, for: sign)
    } catch {
      throw ConditionError("'\(error.text)' \(error.reason)", at: token.range, hint: error.hint)
    }
    notes += [value.note, field.note(about: text, sign)].compactMap { $0 }
    token = try lexer.next()
    return value
  }

  /// The hint for a missing connective.
  private static let joining = "join comparisons with '&&' or '||'"

  /// Whether a sign, or the word that stands for it, is the next token.
  private func isNext(_ sign: ConditionToken.Sign) -> Bool {
    switch token.kind {
    case .sign(let next): next == sign
    // Where a connective can stand, no field or value can, and no field has such a name.
    case .word(let word): sign.word.map { ByteString(word).asciiLowercased == $0 } ?? false
    case .text, .end: false
    }
  }

  /// Consumes a sign if it is the next token.
  private mutating func consume(_ sign: ConditionToken.Sign) throws(ConditionError) -> Bool {
    guard isNext(sign) else { return false }
    token = try lexer.next()
    return true
  }
}

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
