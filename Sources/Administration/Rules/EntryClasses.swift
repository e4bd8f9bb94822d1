public import ResponseStorage

/// What entries are kept for: the class that a rule gives them, `offline` of what is pinned, `cache` of all else.
public struct EntryClasses: Sendable {
  /// The class of entries that are pinned.
  public static let offline = "offline"
  /// The class of entries that nothing gives one.
  public static let cache = "cache"

  /// The rules; the first that matches and has a class gives it.
  public var rules: EntryRules
  /// What is pinned.
  public var pins: EntryNames

  /// Creates classes from rules and pins.
  public init(_ rules: EntryRules = EntryRules(), pins: EntryNames = EntryNames()) {
    (self.rules, self.pins) = (rules, pins)
  }

  /// What a response has to have been decoded for ``name(of:)``.
  public var projection: Projection { rules.projection.union(pins.projection) }

  /// The class of a response.
  ///
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func name(
    of response: borrowing StoredResponse
  ) throws(URLExpression.Overrun) -> String {
    for index in rules.all.indices {
      guard let name = rules.all[index].entryClass,
        try rules.selections[index].contains(response, now: rules.now)
      else { continue }
      return name
    }
    return pins.contains(response) ? Self.offline : Self.cache
  }
}
