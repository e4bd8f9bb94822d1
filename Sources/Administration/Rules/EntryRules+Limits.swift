import Bytes
import ResponseStorage

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

extension EntryRules {
  /// Returns the entries over the number or the size of bodies that a rule allows.
  ///
  /// - Parameter limits: The limits that define the order of removal.
  func beyondLimits(
    _ entries: [RemovalPlan.Entry], in limits: CacheLimits
  ) -> [StoredResponse.ID: RemovalPlan.Reason] {
    var result: [StoredResponse.ID: RemovalPlan.Reason] = [:]
    for (index, rule) in all.enumerated() where rule.entries != nil || rule.bytes != nil {
      // Reverse the order of removal, so that the entries to keep are counted first.
      let verdict = Verdict(rule: Int32(clamping: index + 1), fate: .limit)
      let own = entries.filter { $0.verdict == verdict }
        .sorted { limits.precedes($1, $0) }
      var (count, bytes) = (0 as Int64, 0 as ByteCount)
      for entry in own {
        count += 1
        bytes += entry.size ?? 0
        // Later and smaller entries are removed even if they would still fit: otherwise which
        // entries stay would depend on their sizes and not on the order.
        if let most = rule.entries, count > most {
          result[entry.version.id] = .overEntries
        } else if let most = rule.bytes, bytes > most {
          result[entry.version.id] = .overSize
        }
      }
    }
    return result
  }
}
