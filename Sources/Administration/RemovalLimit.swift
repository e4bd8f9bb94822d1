/// How much a plan may remove.
public enum RemovalLimit: Hashable, Sendable {
  /// A number of entries.
  case entries(Int64)
  /// A share of all entries, in percent.
  case percent(Double)
}
