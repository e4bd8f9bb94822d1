/// An age, counted back from a moment, that divides times into older and younger ones.
///
/// Everything that asks whether an entry or a file is too old, or still young, asks this type, so that
/// `purge --older-than 7d`, `enforce --max-age 7d` and a rule with `expire-after = "7d"` select the same entries. What is
/// exactly as old as the limit is neither older nor younger.
@frozen
public struct AgeLimit: Hashable, Sendable {
  /// The moment that lies as far back as the limit is old; the earliest there is if the limit goes back further, and then
  /// nothing is older.
  public let cutoff: Timestamp

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - seconds: The age in seconds, not less than zero.
  ///   - now: The moment that ages are counted to.
  @inlinable
  public init(_ seconds: Double, at now: Timestamp) {
    cutoff = Timestamp(secondsSince1970: now.secondsSince1970 - seconds) ?? .earliest
  }

  /// Whether what is from a moment is older than the limit.
  @inlinable
  public func isExceeded(by time: Timestamp) -> Bool { time < cutoff }

  /// Whether what is from a moment is younger than the limit, as what is from the future always is.
  @inlinable
  public func isNotReached(by time: Timestamp) -> Bool { time > cutoff }
}

extension Timestamp {
  /// How old what is from this moment is at another, in seconds; less than zero if it is from the future.
  @inlinable
  public func age(at now: Timestamp) -> Double { now.secondsSince1970 - secondsSince1970 }
}
