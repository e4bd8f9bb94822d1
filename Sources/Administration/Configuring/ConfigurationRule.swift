public import Bytes
import ResponseStorage

/// A rule of a policy, as a file says it.
public struct ConfigurationRule: Sendable {
  /// Where the rule begins.
  public let place: ConfigurationPlace
  /// The name, if it has one.
  public internal(set) var name: String?
  /// What entries must be.
  public internal(set) var match = SelectionCriteria()
  /// Whether entries stay or go whatever else is said.
  public internal(set) var action: Policy.Fate?
  /// After how many seconds entries go.
  public internal(set) var expireAfter: Double?
  /// How many entries may stay.
  public internal(set) var entries: Int64?
  /// What their bodies may take up, in bytes.
  public internal(set) var bytes: ByteCount?
  /// After how many seconds entries are to be validated.
  public internal(set) var revalidateAfter: Double?
  /// The class of the entries, for reports.
  public internal(set) var entryClass: String?

  init(at place: ConfigurationPlace) {
    self.place = place
  }

  /// The rule, with ages counted up to a moment.
  public func rule(at now: Timestamp) -> Policy.Rule {
    var rule = Policy.Rule(selecting: match.selection(at: now))
    (rule.name, rule.place) = (name, place)
    (rule.action, rule.expireAfter) = (action, expireAfter)
    (rule.entries, rule.bytes) = (entries, bytes)
    (rule.entryClass, rule.revalidateAfter) = (entryClass, revalidateAfter)
    return rule
  }
}
