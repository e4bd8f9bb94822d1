import Bytes
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
    case compare(ConditionSubject, Test)
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
  let fields: Set<ConditionField>
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
    fields.filter(\.needsRules).map(\.rawValue).min()
  }

  /// The texts that bodies are searched for.
  var bodyTexts: [ByteString] { expression.bodyTexts }

  /// Whether bodies are searched.
  public var searchesBodies: Bool { !bodyTexts.isEmpty }

  /// The fields that ``truth(of:in:)`` needs.
  ///
  /// - Parameter ageBasis: The time from which ages count.
  func projection(ageBasis: AgeBasis) -> Projection {
    fields.reduce(into: []) { $0.formUnion($1.projection(ageBasis: ageBasis)) }
  }
}

extension Condition.Expression {
  fileprivate var fields: Set<ConditionField> {
    switch self {
    case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
    case .not(let part): part.fields
    case .compare(let subject, _): [subject.field]
    }
  }

  fileprivate var bodyTexts: [ByteString] {
    switch self {
    case .all(let parts), .any(let parts): parts.flatMap(\.bodyTexts)
    case .not(let part): part.bodyTexts
    case .compare(let subject, .contains(let text)): subject.field == .body ? [text] : []
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
