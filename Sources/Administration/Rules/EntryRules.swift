public import Bytes
public import Matching
public import ResponseStorage

/// The rules for the entries of a cache at a given time: the first rule that matches an entry decides what happens to
/// it.
///
/// A rule that only describes entries decides nothing: the first matching rule with a class assigns the class, and the
/// first with a validation time assigns that time.
public struct EntryRules: Sendable {
  /// The decision of the rules about an entry.
  public struct Verdict: Hashable, Sendable {
    /// The number of the deciding rule, starting at 1; 32 bits, as a plan may have a million verdicts.
    public let rule: Int32
    /// What happens to the entry.
    public let fate: EntryRule.Fate

    /// Creates a verdict.
    public init(rule: Int32, fate: EntryRule.Fate) {
      (self.rule, self.fate) = (rule, fate)
    }
  }

  /// The rules, in order.
  public let all: [EntryRule]
  /// The entries that each rule matches, in the same order.
  let selections: [Selection]
  /// The time that ages are relative to.
  let now: Timestamp

  /// Creates rules with ages relative to `now`.
  public init(_ rules: [EntryRule], at now: Timestamp) {
    all = rules
    selections = rules.map { $0.match.selection(at: now) }
    self.now = now
  }

  /// Creates an empty set of rules, which decides nothing.
  public init() { self.init([], at: .epoch) }

  /// Whether there is no rule.
  public var isEmpty: Bool { all.isEmpty }

  /// The fields that ``verdict(on:)`` needs.
  public var projection: Projection {
    zip(all, selections).reduce(into: []) { result, item in
      let (rule, selection) = item
      result.formUnion(selection.projection)
      if rule.expireAfter != nil || rule.revalidateAfter != nil {
        result.formUnion(selection.ageBasis.projection)
      }
    }
  }

  /// Returns what happens to an entry; `nil` if no rule decides.
  ///
  /// - Throws: ``RegularExpression/Overrun`` if an expression takes too long.
  public func verdict(
    on response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Verdict? {
    var isAgeUnknown = false
    return try verdict(on: response, &isAgeUnknown)
  }

  /// Returns what happens to an entry; `nil` if no rule decides.
  ///
  /// - Parameter isAgeUnknown: Set to `true` if a rule would remove or limit the entry at some age, and that age is
  ///   unknown.
  /// - Throws: ``RegularExpression/Overrun`` if an expression takes too long.
  public func verdict(
    on response: borrowing StoredResponse, _ isAgeUnknown: inout Bool
  ) throws(RegularExpression.Overrun) -> Verdict? {
    for index in all.indices where !all[index].onlyDescribes {
      // An unknown age or freshness is no match: a rule that removes entries must be certain.
      let decision = try selections[index].decision(for: response, now: now)
      if decision == .unknownTime, all[index].mayRemove { isAgeUnknown = true }
      guard decision == .selected else { continue }
      let time =
        all[index].expireAfter == nil
        ? nil : selections[index].ageBasis.time(of: response, now: now)
      if all[index].action == nil, all[index].expireAfter != nil, time == nil {
        isAgeUnknown = true
      }
      return Verdict(
        rule: Int32(clamping: index + 1), fate: all[index].fate(from: time, at: now))
    }
    return nil
  }
}
