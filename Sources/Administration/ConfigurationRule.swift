/// A rule of a policy, as a file says it.
public struct ConfigurationRule: Hashable, Sendable {
  /// A criterion: a selection option with its values.
  public struct Criterion: Hashable, Sendable {
    /// The name of the option.
    public let option: String
    /// The values, of which one must hold; empty for an option that takes none.
    public let values: [String]
    /// Where the value is.
    public let place: ConfigurationPlace
    /// Where the name is.
    public let namePlace: ConfigurationPlace
  }

  /// Where the rule begins.
  public let place: ConfigurationPlace
  /// The name, if it has one.
  public internal(set) var name: String?
  /// What entries must be; all must hold.
  public internal(set) var match: [Criterion] = []
  /// Whether entries stay or go whatever else is said.
  public internal(set) var action: Policy.Fate?
  /// After how many seconds entries go.
  public internal(set) var expireAfter: Double?
  /// How many entries may stay.
  public internal(set) var entries: Int64?
  /// What their bodies may take up, in bytes.
  public internal(set) var bytes: Int64?

  init(at place: ConfigurationPlace) {
    self.place = place
  }
}
