public import Watching

/// What a watch has seen until its end.
public struct WatchSummary: Sendable {
  /// Why a watch ends.
  public enum Reason: String, Sendable {
    /// What was waited for has happened.
    case awaited
    /// The time is over.
    case time
    /// A signal came, such as that of Control-C.
    case signal
  }

  /// Why it ended.
  public let reason: Reason
  /// The changes.
  public let tally: ChangeTally
  /// The number of entries at the end.
  public let entries: Int64
  /// The number of transactions, as SQLite counts them; `nil` if it is unknown.
  public let transactions: Int64?
  /// The number of looks at the whole cache.
  public let looks: Int64
  /// How long it went on, in milliseconds.
  public let milliseconds: Int64

  /// Creates a summary.
  public init(
    reason: Reason, tally: ChangeTally, entries: Int64, transactions: Int64?, looks: Int64,
    milliseconds: Int64
  ) {
    self.reason = reason
    self.tally = tally
    self.entries = entries
    self.transactions = transactions
    self.looks = looks
    self.milliseconds = milliseconds
  }
}
