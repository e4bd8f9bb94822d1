/// The formats of the rows of a query.
public enum QueryFormat: String, Hashable, Sendable, CaseIterable {
  case table
  case json
  case ndjson
  case csv
  case tsv

  /// Whether each column needs a name of its own.
  public var needsUniqueNames: Bool { self == .json || self == .ndjson }
}
