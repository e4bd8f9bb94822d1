public import Bytes

/// A rule of the configuration, one `[[rules]]` block: which entries it matches, and what becomes of these.
public struct EntryRule: Sendable {
  /// What a rule does with an entry.
  public enum Fate: String, Hashable, Sendable, CaseIterable {
    /// The entry is kept, whatever limits there are.
    case keep
    /// The entry is removed.
    case purge
    /// The entry should never have been stored: it is removed, and `check` reports it.
    case never
    /// The entry should be in memory only: `check` reports it, and nothing removes it.
    case memoryOnly = "memory-only"
    /// The entry is removed, as it is older than the rule lets it become.
    case expire
    /// The entry is removed only beyond a limit of the rule or of the cache.
    case limit
  }

  /// The name, if it has one.
  public var name: String?
  /// Where the rule is written; `nil` if in no file.
  public var place: ConfigurationPlace?
  /// What entries the rule matches; ages are counted to the moment that ``EntryRules`` are made for.
  public var match: SelectionCriteria
  /// What becomes of the entries whatever else the rule says; `nil` if it only limits or describes them.
  public var action: Fate?
  /// After how many seconds entries are removed, by the age basis of ``match``.
  public var expireAfter: Double?
  /// How many entries are kept of those that the rule decides on.
  public var entries: Int64?
  /// How many bytes of bodies are kept of those entries.
  public var bytes: ByteCount?
  /// After how many seconds entries are to be validated, by the age basis of ``match``.
  public var revalidateAfter: Double?
  /// The class of the entries, for reports.
  public var entryClass: String?

  /// Creates a rule that does nothing but match.
  public init(
    matching match: SelectionCriteria = SelectionCriteria(), at place: ConfigurationPlace? = nil
  ) {
    self.match = match
    self.place = place
  }

  /// Whether the rule only says something about entries, so that later rules decide what becomes of them.
  var onlyDescribes: Bool {
    (entryClass != nil || revalidateAfter != nil) && action == nil && expireAfter == nil
      && entries == nil && bytes == nil
  }

  /// What becomes of an entry that the rule matches, and that has this time by the age basis of the rule.
  func fate(from time: Timestamp?, at now: Timestamp) -> Fate {
    if let action { return action }
    guard let expireAfter, let time else { return .limit }
    return AgeLimit(expireAfter, at: now).isExceeded(by: time) ? .expire : .limit
  }
}
