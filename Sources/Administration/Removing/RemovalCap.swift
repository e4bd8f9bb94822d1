/// The most that one command may remove: a cap on a plan, set by `--max-delete`, beyond which nothing is removed.
///
/// What a cache may hold is another matter; see ``CacheLimits``.
public enum RemovalCap: Hashable, Sendable {
  /// A number of entries.
  case entries(Int64)
  /// A share of all entries, in percent.
  case percent(Double)

  /// Whether so many removals are too many.
  public func isExceeded(by removals: Int, of stored: Int64) -> Bool {
    switch self {
    case .entries(let count): Int64(removals) > count
    case .percent(let percent): Double(removals) * 100 > Double(stored) * percent
    }
  }
}
