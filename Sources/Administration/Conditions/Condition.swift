import Bytes
import ResponseStorage

/// What must hold of a response, as an expression says it: `host ^= "api." && age > 7d`.
///
/// What is not known is neither true nor false: a comparison with it is unknown, and so is its opposite
/// (as `NULL` is to SQL). Only what is true is selected.
public struct Condition: Hashable, Sendable {
  /// An expression, taken apart.
  indirect enum Expression: Hashable, Sendable {
    case all([Expression])
    case any([Expression])
    case not(Expression)
    case compare(ConditionSubject, Test)
  }

  /// What is asked of the value of a field.
  enum Test: Hashable, Sendable {
    case equals([ByteString])
    case beginsWith(ByteString)
    case endsWith(ByteString)
    case contains(ByteString)
    case within([ClosedRange<Double>])
    case less(Double, orEqual: Bool)
    case greater(Double, orEqual: Bool)
  }

  /// The expression, as it was written.
  public let text: String
  /// What to tell the user about it: days that are taken as moments.
  public let notes: [String]
  let expression: Expression
  /// The fields that the expression names.
  let fields: Set<ConditionField>
  /// Whether it depends on how fresh a response is.
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

  /// The first field by its name that is what rules of the configuration say; `nil` if there is none.
  public var fieldOfRules: String? {
    fields.filter(\.needsRules).map(\.rawValue).min()
  }

  /// What a response has to have been decoded for ``truth(of:in:)``.
  ///
  /// - Parameter ageBasis: What ages are counted from.
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
}
