public import Bytes
public import ResponseStorage

/// What entries are kept for: the class that a rule gives them, `offline` of what is pinned, `cache` of all else.
public struct EntryClasses: Sendable {
  /// The class of entries that are pinned.
  public static let offline = "offline"
  /// The class of entries that nothing gives one.
  public static let cache = "cache"

  /// The rules; the first that matches and has a class gives it.
  public var policy: Policy
  /// What is pinned.
  public var pins: EntryNames

  /// Creates classes by rules and pins.
  public init(_ policy: Policy = Policy(), pins: EntryNames = EntryNames()) {
    (self.policy, self.pins) = (policy, pins)
  }

  /// What a response has to have been decoded for ``name(of:now:)``.
  public var projection: Projection { policy.projection.union(pins.projection) }

  /// The class of a response.
  ///
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func name(
    of response: borrowing StoredResponse, now: Timestamp
  ) throws(URLExpression.Overrun) -> String {
    for rule in policy.rules {
      guard let name = rule.entryClass, try rule.selection.contains(response, now: now) else {
        continue
      }
      return name
    }
    return pins.contains(response) ? Self.offline : Self.cache
  }
}
