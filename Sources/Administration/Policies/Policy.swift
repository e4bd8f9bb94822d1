public import Bytes
public import ResponseStorage

/// What is to become of the entries of a cache, by rules of which the first that matches decides.
///
/// A rule that only describes entries decides nothing: of the rules with a class, and of those with a time to validate after,
/// the first that matches gives it.
public struct Policy: Sendable {
  /// What a rule does with an entry.
  public enum Fate: String, Hashable, Sendable, CaseIterable {
    /// It stays, whatever limits say.
    case keep
    /// It goes.
    case purge
    /// It goes, as it is never to be stored: a finding of a check.
    case never
    /// It is to be in memory only: a finding of a check, and no reason to go.
    case memoryOnly = "memory-only"
    /// It goes, as it is older than the rule lets it become.
    case expire
    /// It goes only beyond a limit of the rule or of the cache.
    case limit
  }

  /// A rule.
  public struct Rule: Sendable {
    /// The name, if it has one.
    public var name: String?
    /// Where the rule is configured.
    public var place: ConfigurationPlace?
    /// What it is about.
    public var selection: Selection
    /// What it does whatever else is said; `nil` if it only limits.
    public var action: Fate?
    /// After how many seconds entries go, by ``Selection/ageBasis``.
    public var expireAfter: Double?
    /// How many entries may stay of those that the rule decides on.
    public var entries: Int64?
    /// What the bodies of those may take up, in bytes.
    public var bytes: ByteCount?
    /// After how many seconds entries are to be validated, by ``Selection/ageBasis``.
    public var revalidateAfter: Double?
    /// The class of the entries, for reports.
    public var entryClass: String?

    /// Creates a rule that does nothing but match.
    public init(selecting selection: Selection) {
      self.selection = selection
    }

    /// What becomes of an entry that the rule matches.
    func fate(of response: borrowing StoredResponse, now: Timestamp) -> Fate {
      if let action { return action }
      guard let expireAfter, let time = selection.ageBasis.time(of: response, now: now) else {
        return .limit
      }
      return AgeLimit(expireAfter, at: now).isExceeded(by: time) ? .expire : .limit
    }

    /// Whether the rule only says something about entries, so that others decide what becomes of them.
    private var onlyDescribes: Bool {
      (entryClass != nil || revalidateAfter != nil) && action == nil && expireAfter == nil
        && entries == nil && bytes == nil
    }

    /// Whether the rule decides on a response.
    fileprivate func decides(
      on response: borrowing StoredResponse, now: Timestamp
    ) throws(URLExpression.Overrun) -> Bool {
      if onlyDescribes { return false }
      return try selection.contains(response, now: now)
    }

    /// What a response has to have been decoded for.
    fileprivate var projection: Projection {
      expireAfter == nil && revalidateAfter == nil
        ? selection.projection : selection.projection.union(selection.ageBasis.projection)
    }
  }

  /// What a policy says of an entry.
  public struct Verdict: Hashable, Sendable {
    /// The number of the rule that decides, from 1; a plan may hold a million of them.
    public let rule: Int32
    /// What becomes of the entry.
    public let fate: Fate

    /// Creates a verdict.
    public init(rule: Int32, fate: Fate) {
      (self.rule, self.fate) = (rule, fate)
    }
  }

  /// The rules, in their order.
  public var rules: [Rule]

  /// Creates a policy; without rules it decides nothing.
  public init(_ rules: [Rule] = []) {
    self.rules = rules
  }

  /// What a response has to have been decoded for ``verdict(on:now:)``.
  public var projection: Projection { rules.reduce(into: []) { $0.formUnion($1.projection) } }

  /// What becomes of an entry; `nil` if no rule matches it.
  ///
  /// - Throws: ``URLExpression/Overrun`` if it takes too long to find out.
  public func verdict(
    on response: borrowing StoredResponse, now: Timestamp
  ) throws(URLExpression.Overrun) -> Verdict? {
    for (index, rule) in rules.enumerated() where try rule.decides(on: response, now: now) {
      return Verdict(rule: Int32(clamping: index + 1), fate: rule.fate(of: response, now: now))
    }
    return nil
  }
}
