public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders the differences between two caches.
public struct ComparisonRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy
  /// Whether only totals are shown.
  public var isSummary: Bool

  /// Creates a renderer.
  public init(secrets: SecretPolicy, isSummary: Bool) {
    self.secrets = secrets
    self.isSummary = isSummary
  }

  /// Appends a line for each difference, and the totals; nothing if there are no differences.
  public func appendText(_ comparison: StoreComparison, into buffer: inout TextBuffer) {
    if !isSummary {
      for difference in comparison.differences { append(difference, into: &buffer) }
    }
    guard isSummary || !comparison.differences.isEmpty else { return }
    for change in StoreComparison.Change.allCases {
      buffer.append(grouped: Int64(comparison.count(change)))
      buffer.append(" \(change.rawValue), ")
    }
    buffer.append(grouped: comparison.same)
    buffer.append(" the same\n")
  }

  private func append(
    _ difference: StoreComparison.Difference, into buffer: inout TextBuffer
  ) {
    switch difference.change {
    case .added: buffer.append("+ ")
    case .removed: buffer.append("- ")
    case .changed: buffer.append("~ ")
    }
    buffer.append(shown: secrets.url(difference.url ?? difference.key, for: .people))
    if !difference.aspects.isEmpty {
      buffer.append(" (\(difference.aspects.map(\.rawValue).joined(separator: ", ")))")
    }
    buffer.append("\n")
  }

  /// Appends one JSON object, with every difference.
  public func appendJSON(
    _ comparison: StoreComparison, of first: StoreDescription, _ second: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    buffer.writeJSON(schema: "diff") {
      $0.member("first", first)
      $0.member("second", second)
      for change in StoreComparison.Change.allCases {
        $0.member(named: change.rawValue, comparison.count(change))
      }
      $0.member("same", comparison.same)
      let differences = isSummary ? [] : comparison.differences
      $0.array("differences", .lines, objects: differences) { json, difference in
        json.member("key", url: difference.key, secrets)
        json.member("url", url: difference.url, secrets)
        json.member("change", difference.change.rawValue)
        json.member("differs", difference.aspects.map(\.rawValue))
      }
    }
  }
}
