public import Matching
public import ResponseStorage

/// Classes of entries: the class that a rule assigns, or else `offline` for pinned entries and `cache` for all others.
public struct EntryClasses: Sendable {
  /// The class of entries that are pinned.
  public static let offline = "offline"
  /// The class of entries that no rule assigns one to.
  public static let cache = "cache"

  /// The rules; the first rule that matches and has a class assigns it.
  public var rules: EntryRules
  /// The pinned entries.
  public var pins: EntryNames

  /// Creates classes from rules and pins.
  public init(_ rules: EntryRules = EntryRules(), pins: EntryNames = EntryNames()) {
    (self.rules, self.pins) = (rules, pins)
  }

  /// The fields that ``name(of:)`` needs.
  public var projection: Projection { rules.projection.union(pins.projection) }

  /// Returns the class of a response.
  ///
  /// - Throws: ``RegularExpression/Overrun`` if an expression takes too long.
  public func name(
    of response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> String {
    for index in rules.all.indices {
      guard let name = rules.all[index].entryClass,
        try rules.selections[index].contains(response, now: rules.now)
      else { continue }
      return name
    }
    // After the rules, as a user who writes a class says more than one who pins a URL.
    return pins.contains(response) ? Self.offline : Self.cache
  }
}
