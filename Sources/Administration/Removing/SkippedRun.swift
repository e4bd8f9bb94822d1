/// A run of a command that was skipped.
public struct SkippedRun: Hashable, Sendable {
  /// Why a run was skipped.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Another process is using the cache.
    case busy
    /// The time limit for all caches was reached before this one was processed.
    case maxRuntime = "max-runtime"
  }

  /// The command.
  public var verb: String
  /// The name of the cache, or else its path.
  public var cache: String
  /// Why the run was skipped.
  public var reason: Reason
  /// The reason as a clause for people.
  public var message: String

  /// Creates a skipped run.
  public init(verb: String, cache: String, reason: Reason, message: String) {
    self.verb = verb
    self.cache = cache
    self.reason = reason
    self.message = message
  }
}
