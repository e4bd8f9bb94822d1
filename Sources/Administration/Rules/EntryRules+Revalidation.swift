import Bytes
public import ResponseStorage

extension EntryRules {
  /// When an entry is to be validated, by a rule.
  public struct Revalidation: Hashable, Sendable {
    /// The number of the rule, from 1.
    public let rule: Int32
    /// After how many seconds.
    public let after: Double
    /// How old the entry is, in seconds; `nil` if that is not known.
    public let age: Double?

    /// Whether the entry is older than that; `nil` if its age is not known.
    public let isDue: Bool?
  }

  /// When an entry is to be validated, by the first rule that matches it and says so; `nil` if none does.
  ///
  /// It has no part in whether the entry is fresh: it says what the user wants, and no cache knows of it.
  ///
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func revalidation(
    of response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) -> Revalidation? {
    for index in all.indices {
      guard let after = all[index].revalidateAfter,
        try selections[index].contains(response, now: now)
      else { continue }
      let time = selections[index].ageBasis.time(of: response, now: now)
      return Revalidation(
        rule: Int32(clamping: index + 1), after: after, age: time?.age(at: now),
        isDue: time.map { AgeLimit(after, at: now).isExceeded(by: $0) })
    }
    return nil
  }
}
