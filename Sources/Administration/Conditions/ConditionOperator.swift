/// A comparison operator.
enum ConditionOperator: String, Hashable, CaseIterable {
  case equal = "="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case beginsWith = "^="
  case endsWith = "$="
  case contains = "*="
  case oneOf = "in"

  /// Returns the operators separated by spaces.
  static func list(_ operators: [ConditionOperator]) -> String {
    operators.map(\.rawValue).joined(separator: " ")
  }
}

extension ConditionField.Kind {
  /// The operators that fields of this kind take.
  var operators: [ConditionOperator] {
    switch self {
    case .text: [.equal, .notEqual, .beginsWith, .endsWith, .contains, .oneOf]
    case .body: [.equal, .notEqual, .contains, .oneOf]
    case .property: ConditionOperator.allCases
    // Words have no order that users would agree on.
    case .word: [.equal, .notEqual, .oneOf]
    case .status, .size, .share:
      [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .oneOf]
    // No `=`: times are compared to fractions of a second, so it would never match.
    case .duration, .time: [.less, .lessOrEqual, .greater, .greaterOrEqual]
    }
  }
}
