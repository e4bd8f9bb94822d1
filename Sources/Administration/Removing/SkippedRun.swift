/// A run of a command that did nothing, as it was not the moment for it.
public struct SkippedRun: Hashable, Sendable {
  /// Why nothing was done.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Somebody else uses the cache.
    case busy
    /// The time for all caches was over before the turn of this one came.
    case maxRuntime = "max-runtime"
  }

  /// The command.
  public var verb: String
  /// What the cache is called: its name, or else its path.
  public var cache: String
  /// Why nothing was done.
  public var reason: Reason
  /// The same for people, as one clause.
  public var message: String

  /// Creates a run that is skipped.
  public init(verb: String, cache: String, reason: Reason, message: String) {
    self.verb = verb
    self.cache = cache
    self.reason = reason
    self.message = message
  }
}
