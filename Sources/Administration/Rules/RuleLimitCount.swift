import Bytes

/// Counts the entries of rules that limit their number or the size of their bodies.
///
/// The entries to keep are counted first. Later and smaller entries are removed even if they would still fit: otherwise
/// which entries stay would depend on their sizes and not on the order.
struct RuleLimitCount {
  private let rules: [EntryRule]
  /// The rule of the last entry, and the total of its entries.
  private var rule: Int32 = 0
  private var total = KeptEntries()

  init(of rules: EntryRules) { self.rules = rules.all }

  /// Adds an entry. Those of one rule must follow each other, in the reverse order of removal.
  ///
  /// - Returns: Why it is removed; `nil` if it is within the limits of its rule.
  mutating func insert(_ entry: RemovalPlan.Entry) -> RemovalPlan.Reason? {
    guard let verdict = entry.verdict, rules.indices.contains(Int(verdict.rule) - 1) else {
      return nil
    }
    if verdict.rule != rule { (rule, total) = (verdict.rule, KeptEntries()) }
    total.insert(entry.size)
    let limits = rules[Int(rule) - 1]
    if let most = limits.entries, total.entries > most { return .overEntries }
    if let most = limits.bytes, total.bodyBytes > most { return .overSize }
    return nil
  }
}
