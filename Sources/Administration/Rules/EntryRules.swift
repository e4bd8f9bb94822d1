public import Bytes
public import ResponseStorage

/// The rules for the entries of a cache, at a moment: the first rule that matches an entry decides what becomes of it.
///
/// A rule that only describes entries decides nothing: of the rules with a class, and of those with a time to validate
/// after, the first that matches gives it.
public struct EntryRules: Sendable {
  /// What the rules say of an entry.
  public struct Verdict: Hashable, Sendable {
    /// The number of the rule that decides, from 1; a plan may hold a million of them.
    public let rule: Int32
    /// What becomes of the entry.
    public let fate: EntryRule.Fate

    /// Creates a verdict.
    public init(rule: Int32, fate: EntryRule.Fate) {
      (self.rule, self.fate) = (rule, fate)
    }
  }

  /// The rules, in their order.
  public let all: [EntryRule]
  /// The entries that each rule matches, in the same order.
  let selections: [Selection]
  /// The moment that ages are counted to.
  let now: Timestamp

  /// Creates rules, with ages counted to a moment.
  public init(_ rules: [EntryRule], at now: Timestamp) {
    all = rules
    selections = rules.map { $0.match.selection(at: now) }
    self.now = now
  }

  /// Creates no rules, which decide nothing.
  public init() { self.init([], at: .epoch) }

  /// Whether there is no rule.
  public var isEmpty: Bool { all.isEmpty }

  /// What a response has to have been decoded for ``verdict(on:)``.
  public var projection: Projection {
    zip(all, selections).reduce(into: []) { result, item in
      let (rule, selection) = item
      result.formUnion(selection.projection)
      if rule.expireAfter != nil || rule.revalidateAfter != nil {
        result.formUnion(selection.ageBasis.projection)
      }
    }
  }

  /// What becomes of an entry; `nil` if no rule decides on it.
  ///
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func verdict(
    on response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) -> Verdict? {
    for index in all.indices where !all[index].onlyDescribes {
      guard try selections[index].contains(response, now: now) else { continue }
      let time =
        all[index].expireAfter == nil
        ? nil : selections[index].ageBasis.time(of: response, now: now)
      return Verdict(
        rule: Int32(clamping: index + 1), fate: all[index].fate(from: time, at: now))
    }
    return nil
  }
}
