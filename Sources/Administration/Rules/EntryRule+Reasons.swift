extension EntryRule.Fate {
  /// Why the rule alone removes an entry; `nil` if it does not.
  var reason: RemovalPlan.Reason? {
    switch self {
    case .purge: .purgedByRule
    case .never: .neverByRule
    case .expire: .expired
    case .keep, .memoryOnly, .limit: nil
    }
  }
}
