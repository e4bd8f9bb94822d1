/// The maximum that one command may remove, set by `--max-delete`; a plan over it removes nothing.
///
/// For the limits of a cache, see ``CacheLimits``.
public enum RemovalCap: Hashable, Sendable {
  /// A number of entries.
  case entries(Int64)
  /// A share of all entries, in percent.
  case percent(Double)

  /// Whether the number of removals exceeds the cap.
  public func isExceeded(by removals: Int, of stored: Int64) -> Bool {
    switch self {
    // The cap itself is allowed: `--max-delete 0` permits nothing, and `--max-delete 10` ten.
    case .entries(let count): Int64(removals) > count
    // Multiplied and not divided: an empty cache has no share, and division would make it NaN,
    // which exceeds nothing.
    case .percent(let percent): Double(removals) * 100 > Double(stored) * percent
    }
  }
}
