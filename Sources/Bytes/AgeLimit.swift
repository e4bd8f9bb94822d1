/// An age limit, measured back from a moment, that divides times into older and younger ones.
///
/// All age comparisons use this type, so that `purge --older-than 7d`, `enforce --max-age 7d` and a rule with
/// `expire-after = "7d"` select the same entries. An age equal to the limit is neither older nor younger.
@frozen
public struct AgeLimit: Hashable, Sendable {
  /// The moment at which the limit is reached: ``Timestamp/earliest`` if the limit goes back further, so that nothing
  /// is older.
  public let cutoff: Timestamp

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - seconds: The age in seconds, not less than zero.
  ///   - now: The moment from which ages are measured.
  @inlinable
  public init(_ seconds: Double, at now: Timestamp) {
    // The limit is turned into a moment once, so that a comparison is the same for every entry:
    // subtracting the time of each entry instead would round differently.
    cutoff = Timestamp(secondsSince1970: now.secondsSince1970 - seconds) ?? .earliest
  }

  /// Whether a time is older than the limit.
  @inlinable
  public func isExceeded(by time: Timestamp) -> Bool { time < cutoff }

  /// Whether a time is younger than the limit. A time in the future always is.
  // This is not the opposite of the function above: a time at the limit is neither, so that no
  // option and its counterpart select an entry twice.
  @inlinable
  public func isNotReached(by time: Timestamp) -> Bool { time > cutoff }
}

extension Timestamp {
  /// The age of this time at another, in seconds; negative if this time is later.
  @inlinable
  public func age(at now: Timestamp) -> Double { now.secondsSince1970 - secondsSince1970 }
}
