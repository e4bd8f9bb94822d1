import Bytes
public import Matching
public import ResponseStorage

extension EntryRules {
  /// When a rule wants an entry to be validated.
  public struct Revalidation: Hashable, Sendable {
    /// The number of the rule, starting at 1.
    public let rule: Int32
    /// The age at which to validate the entry, in seconds.
    public let after: Double
    /// The age of the entry, in seconds; `nil` if unknown.
    public let age: Double?

    /// Whether the entry is older than that; `nil` if its age is unknown.
    public let isDue: Bool?
  }

  /// Returns when to validate an entry, by the first matching rule with a time; `nil` if there is none.
  ///
  /// This is independent of freshness: it is a wish of the user that no cache knows about.
  ///
  /// - Throws: ``RegularExpression/Overrun`` if an expression takes too long.
  public func revalidation(
    of response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Revalidation? {
    for index in all.indices {
      guard let after = all[index].revalidateAfter,
        try selections[index].contains(response, now: now)
      else { continue }
      let time = selections[index].ageBasis.time(of: response, now: now)
      return Revalidation(
        rule: Int32(clamping: index + 1), after: after, age: time?.age(at: now),
        // The same comparison as for removals, so that two views of an age never disagree by a
        // fraction of a second.
        isDue: time.map { AgeLimit(after, at: now).isExceeded(by: $0) })
    }
    return nil
  }
}
