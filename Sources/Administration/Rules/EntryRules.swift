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

extension EntryRule.Fate {
  /// Why the rule alone removes an entry; `nil` if it does not.
  var reason: RemovalPlan.Reason? {
    switch self {
    case .purge: .purgedByRule
    case .never: .neverByRule
    case .expire: .expired
    case .keep, .memoryOnly, .limit: nil
    }
  }
}

extension Finding.Code {
  static let neverByRule = Self(
    "never-by-rule", .warning, "the configuration forbids storing it; 'enforce' removes it")
  static let memoryOnlyByRule = Self(
    "memory-only-by-rule", .warning,
    "the configuration allows it only in memory, but the app stored it on disk")
}

extension EntryRules {
  /// Returns the finding on a response that a rule says not to store on disk; `nil` if there is none.
  func finding(
    on response: borrowing StoredResponse
  ) throws(RegularExpression.Overrun) -> Finding? {
    guard let verdict = try verdict(on: response) else { return nil }
    let code: Finding.Code
    switch verdict.fate {
    case .never: code = .neverByRule
    case .memoryOnly: code = .memoryOnlyByRule
    // These are about how long an entry stays. That it was stored is no finding.
    case .keep, .purge, .expire, .limit: return nil
    }
    let name = all[Int(verdict.rule) - 1].name.map { " '\($0)'" } ?? ""
    return Finding(
      code, "matched by rule \(verdict.rule)\(name)", id: response.id, url: response.url)
  }
}

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
