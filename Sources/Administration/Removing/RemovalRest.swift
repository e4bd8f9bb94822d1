/// What was to be removed, and was left as the command was stopped.
public struct RemovalRest: Hashable, Sendable {
  /// The number of entries.
  public var entries: Int
  /// The number of files without an entry.
  public var orphans: Int
  /// Why it was left.
  public var reason: StopReason

  /// Creates a rest; `nil` if nothing is left.
  public init?(entries: Int, orphans: Int, reason: StopReason) {
    guard entries > 0 || orphans > 0 else { return nil }
    self.entries = entries
    self.orphans = orphans
    self.reason = reason
  }

  /// The number of both.
  public var count: Int64 { Int64(entries) + Int64(orphans) }
}
