import Bytes
import HTTPCaching
import ResponseStorage

/// A condition on a response, written as an expression: `host ^= "api." && age > 7d`.
///
/// Unknown values follow three-valued logic, like `NULL` in SQL: a comparison with an unknown value is unknown, and so
/// is its negation. Only responses for which the condition is true are selected.
public struct Condition: Hashable, Sendable {
  /// A parsed expression.
  indirect enum Expression: Hashable, Sendable {
    case all([Expression])
    case any([Expression])
    case not(Expression)
    case compare(EntryField, Test)
  }

  /// A test of the value of a field.
  enum Test: Hashable, Sendable {
    case equals([ByteString])
    case beginsWith(ByteString)
    case endsWith(ByteString)
    case contains(ByteString)
    case within([ClosedRange<Double>])
    case less(Double, orEqual: Bool)
    case greater(Double, orEqual: Bool)
  }

  /// The expression, as written.
  public let text: String
  /// Notes for the user, such as the time that a date stands for.
  public let notes: [String]
  let expression: Expression
  /// The fields in the expression.
  let fields: Set<EntryField>
  /// Whether it depends on freshness.
  let needsFreshness: Bool

  /// Reads an expression.
  public init(_ text: String) throws(ConditionError) {
    var parser = try ConditionParser(text)
    expression = try parser.whole()
    fields = expression.fields
    needsFreshness = fields.contains(where: \.needsFreshness)
    notes = parser.notes
    self.text = text
  }

  /// The alphabetically first field that depends on the rules of the configuration; `nil` if there is none.
  public var fieldOfRules: String? {
    fields.filter(\.needsRules).map(\.name).min()
  }

  /// Whether the expression contains a field with this name.
  public func uses(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The texts that bodies are searched for.
  var bodyTexts: [ByteString] { expression.bodyTexts }

  /// Whether bodies are searched.
  public var searchesBodies: Bool { !bodyTexts.isEmpty }

  /// The fields that ``truth(of:in:)`` needs.
  ///
  /// - Parameter ageBasis: The time from which ages count.
  func projection(ageBasis: AgeBasis) -> Projection {
    fields.reduce(into: []) { $0.formUnion($1.comparedProjection(ageBasis: ageBasis)) }
  }
}

extension Condition.Expression {
  fileprivate var fields: Set<EntryField> {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
    case .not(let part): part.fields
    case .compare(let field, _): [field]
    }
  }

  fileprivate var bodyTexts: [ByteString] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.bodyTexts)
    case .not(let part): part.bodyTexts
    case .compare(let field, .contains(let text)): field.name == "body" ? [text] : []
    case .compare: []
    }
  }
}

/// An error in an expression, with its position.
public struct ConditionError: Error, Hashable, Sendable {
  /// The error: a clause without a subject, quoting the expression unchanged.
  public let reason: String
  /// The range in the expression, in UTF-8 bytes; empty at the end.
  public let range: Range<Int>
  /// What to write instead, or `nil`.
  public let hint: String?

  init(_ reason: String, at range: Range<Int>, hint: String? = nil) {
    (self.reason, self.range, self.hint) = (reason, range, hint)
  }
}

extension Condition {
  /// Whether the condition is true; `nil` if that depends on an unknown value.
  func truth(of response: borrowing StoredResponse, in context: borrowing EntryContext) -> Bool? {
    expression.truth(of: response, in: context)
  }

  /// Whether the condition needs a time that is unknown.
  func lacksTime(of response: borrowing StoredResponse, in context: borrowing EntryContext) -> Bool
  {
    for field in fields {
      if let basis = field.timeBasis(context.ageBasis),
        basis.time(of: response, now: context.now) == nil
      {
        return true
      }
    }
    return false
  }
}

extension Condition.Expression {
  fileprivate func truth(
    of response: borrowing StoredResponse, in context: borrowing EntryContext
  ) -> Bool? {
    switch self {
    case .compare(let field, .contains(let text)) where field.name == "body":
      return context.contents?.contains(text, response.id)
    case .compare(let field, let test):
      return field.comparedValue(of: response, in: context)
        .map { test.holds(of: $0, field, at: context.now) }
    // The negation of unknown is unknown. Otherwise `purge --where '!(age < 7d)'` would remove the
    // entries whose age is not known.
    case .not(let part):
      return part.truth(of: response, in: context).map { !$0 }
    case .all(let parts):
      // An unknown part does not decide: any false part makes the whole expression false.
      var result: Bool? = true
      for part in parts {
        guard let truth = part.truth(of: response, in: context) else {
          result = nil
          continue
        }
        if !truth { return false }
      }
      return result
    case .any(let parts):
      // An unknown part does not decide: any true part makes the whole expression true.
      var result: Bool? = false
      for part in parts {
        guard let truth = part.truth(of: response, in: context) else {
          result = nil
          continue
        }
        if truth { return true }
      }
      return result
    }
  }
}

extension Condition.Test {
  fileprivate func holds(
    of value: EntryField.Value, _ field: EntryField, at now: Timestamp
  ) -> Bool {
    switch (self, value) {
    case (_, .texts(let values)): values.contains { holds(ofText: $0, field) }
    // An app may have attached `"600"` as text or 600 as a number, and a user cannot see which.
    case (.equals(let texts), .property(_, let value)):
      texts.contains { value.equals($0, WrittenTime.moment($0)) }
    case (_, .property(_, .boolean)): false
    case (_, .age(let time)): holds(ofNumber: time.age(at: now))
    default:
      value.number.map { holds(ofNumber: $0) } ?? value.text.map { holds(ofText: $0, field) }
        ?? false
    }
  }

  private func holds(ofText value: ByteString, _ field: EntryField) -> Bool {
    let value = field.kind == .text(ignoringCase: true) ? value.asciiLowercased : value
    return switch self {
    // As for `--host`: a leading dot means the domain and all its subdomains.
    case .equals(let texts):
      texts.contains { field.name == "host" ? $0.covers(value) : $0 == value }
    case .beginsWith(let text): value.bytes.starts(with: text.bytes)
    case .endsWith(let text): value.bytes.suffix(text.bytes.count).elementsEqual(text.bytes)
    case .contains(let text): value.contains(text)
    // The parser only accepts the operators of the field's kind.
    case .within, .less, .greater: false
    }
  }

  private func holds(ofNumber value: Double) -> Bool {
    switch self {
    case .within(let ranges): ranges.contains { $0.contains(value) }
    case .less(let bound, let orEqual): orEqual ? value <= bound : value < bound
    case .greater(let bound, let orEqual): orEqual ? value >= bound : value > bound
    case .equals, .beginsWith, .endsWith, .contains: false
    }
  }
}

extension ByteString {
  // By bytes: `String.contains` compares grapheme clusters, so a combining mark after the text,
  // which a server can send, would hide it.
  /// Whether this text contains `part`.
  fileprivate func contains(_ part: ByteString) -> Bool {
    guard let first = part.bytes.first else { return true }
    var rest = bytes[...]
    while rest.count >= part.bytes.count, let start = rest.firstIndex(of: first) {
      if rest[start...].starts(with: part.bytes) { return true }
      rest = rest[(start + 1)...]
    }
    return false
  }
}
