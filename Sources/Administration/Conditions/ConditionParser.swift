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
    let subject = try subject()
    let field = subject.field
    let sign = try comparisonOperator(of: field)
    guard sign == .oneOf else {
      let value = try value(of: field, sign)
      let test = Condition.Test(sign, value)
      let comparison = Condition.Expression.compare(subject, test)
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
    return .compare(subject, Condition.Test(equalsAny: values))
  }

  private mutating func subject() throws(ConditionError) -> ConditionSubject {
    let field = try field()
    guard field.takesName else { return ConditionSubject(field: field) }
    let hint = "write \(field.rawValue)(\"NAME\")"
    guard try consume(.open) else {
      throw ConditionError(
        "'\(field.rawValue)' must be followed by a name in parentheses", at: token.range, hint: hint
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
    return ConditionSubject(field: field, name: ByteString(name))
  }

  /// Parses the name of a field; `_` is accepted for `-`.
  private mutating func field() throws(ConditionError) -> ConditionField {
    let names = ConditionField.allCases.map(\.rawValue)
    guard case .word(let name) = token.kind else {
      throw ConditionError(
        token.kind == .end
          ? "expected a comparison at the end" : "expected a field before this",
        at: token.range, hint: "use one of: " + Self.fields)
    }
    // JSON names the same fields with `_`, and users copy names from there.
    let word = String(
      decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
    guard let field = ConditionField(rawValue: word) else {
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
  private static let fields = ConditionField.allCases.map(\.written).joined(separator: " ")

  private mutating func comparisonOperator(
    of field: ConditionField
  ) throws(ConditionError) -> ConditionOperator {
    let name: String? =
      switch token.kind {
      case .sign(let sign): sign.rawValue
      case .word(let word): word
      case .text, .end: nil
      }
    let allowed = field.kind.operators
    var hint = "'\(field.rawValue)' accepts: " + ConditionOperator.list(allowed)
    if case .word(let word) = token.kind, ByteString(word).asciiLowercased == "like",
      allowed.contains(.contains)
    {
      hint += "; '*=' matches any part of the text, '^=' its beginning"
    }
    // The hint lists the operators of this field only, as most other fields take fewer or more.
    guard let name, let sign = ConditionOperator(rawValue: name) else {
      throw ConditionError(
        "expected an operator after '\(field.rawValue)'", at: token.range, hint: hint)
    }
    guard allowed.contains(sign) else {
      throw ConditionError(
        "'\(field.rawValue)' cannot be used with '\(name)'", at: token.range, hint: hint)
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
    of field: ConditionField, _ sign: ConditionOperator
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
