public import Bytes

/// A rule of the configuration (one `[[rules]]` block): which entries it matches, and what happens to them.
public struct EntryRule: Sendable {
  /// What a rule does with an entry.
  public enum Fate: String, Hashable, Sendable, CaseIterable {
    /// The entry is kept, regardless of limits.
    case keep
    /// The entry is removed.
    case purge
    /// The entry should not have been stored: it is removed, and `check` reports it.
    case never
    /// The entry should be in memory only: `check` reports it, but it is not removed.
    case memoryOnly = "memory-only"
    /// The entry is removed because it is older than the rule allows.
    case expire
    /// The entry is removed only if it is over a limit of the rule or of the cache.
    case limit
  }

  /// The name, if it has one.
  public var name: String?
  /// The place in the configuration file; `nil` if the rule is not from a file.
  public var place: ConfigurationPlace?
  /// The criteria for matching entries; ages are relative to the time of the ``EntryRules``.
  public var match: SelectionCriteria
  /// What happens to the entries regardless of other properties; `nil` if the rule only limits or describes them.
  public var action: Fate?
  /// The age at which entries are removed, in seconds, by the age basis of ``match``.
  public var expireAfter: Double?
  /// The number of entries to keep, of those that the rule decides on.
  public var entries: Int64?
  /// The size of bodies to keep, in bytes, of those entries.
  public var bytes: ByteCount?
  /// The age at which entries should be validated, in seconds, by the age basis of ``match``.
  public var revalidateAfter: Double?
  /// The class of the entries, shown in reports.
  public var entryClass: String?

  /// Creates a rule that only matches entries.
  public init(
    matching match: SelectionCriteria = SelectionCriteria(), at place: ConfigurationPlace? = nil
  ) {
    self.match = match
    self.place = place
  }

  /// Whether the rule only describes entries, so that later rules decide what happens to them.
  var onlyDescribes: Bool {
    (entryClass != nil || revalidateAfter != nil) && action == nil && expireAfter == nil
      && entries == nil && bytes == nil
  }

  /// Whether the rule removes entries, or limits them.
  var mayRemove: Bool { action != .keep && action != .memoryOnly }

  /// Returns what happens to a matching entry whose age counts from `time`.
  func fate(from time: Timestamp?, at now: Timestamp) -> Fate {
    if let action { return action }
    // An entry of unknown age is kept: it may be as young as any.
    guard let expireAfter, let time else { return .limit }
    return AgeLimit(expireAfter, at: now).isExceeded(by: time) ? .expire : .limit
  }
}
