/// How many changes there were in the last seconds.
public struct ChangeRate: Sendable {
  /// The time over which the rate is an average, in seconds.
  public static let seconds: Int64 = 10

  private var counts: [(second: Int64, changes: Int64)] = []

  /// Creates a rate of zero.
  public init() {}

  /// Counts changes at a time of a monotonic clock.
  public mutating func insert(_ changes: Int64, atMilliseconds time: Int64) {
    let second = time / 1_000
    if counts.last?.second == second {
      counts[counts.count - 1].changes += changes
    } else {
      counts.append((second, changes))
    }
    counts.removeAll { $0.second <= second - Self.seconds }
  }

  /// Returns the changes of the last seconds.
  public func changes(atMilliseconds time: Int64) -> Int64 {
    counts.reduce(0) { $0 + ($1.second > time / 1_000 - Self.seconds ? $1.changes : 0) }
  }
}
