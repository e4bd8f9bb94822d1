public import Administration
import Bytes
public import ResponseStorage

/// What tells two caches apart, as text.
public struct ComparisonRenderer: Sendable {
  /// Which secrets the output may contain.
  public var secrets: SecretPolicy
  /// Whether only the numbers are wanted.
  public var isSummary: Bool

  /// Creates a renderer.
  public init(secrets: SecretPolicy, isSummary: Bool) {
    self.secrets = secrets
    self.isSummary = isSummary
  }

  /// Appends a line for each difference, and the numbers; nothing if there is no difference.
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
    buffer.append("{\"schema\":\"urlcache-admin.diff/1\",\"first\":")
    buffer.append(json: first)
    buffer.append(",\"second\":")
    buffer.append(json: second)
    for change in StoreComparison.Change.allCases {
      buffer.append(",\"\(change.rawValue)\":")
      buffer.append(integer: Int64(comparison.count(change)))
    }
    buffer.append(",\"same\":")
    buffer.append(integer: comparison.same)
    buffer.append(",\"differences\":[")
    let differences = isSummary ? [] : comparison.differences
    for (index, difference) in differences.enumerated() {
      buffer.append(index == 0 ? "\n{\"key\":" : ",\n{\"key\":")
      buffer.append(json: secrets.url(difference.key, for: .programs), orBase64Named: "key")
      buffer.append(",\"url\":")
      buffer.append(
        json: difference.url.map { secrets.url($0, for: .programs) }, orBase64Named: "url")
      buffer.append(",\"change\":")
      buffer.append(json: difference.change.rawValue)
      buffer.append(",\"differs\":[")
      buffer.append(difference.aspects.map { "\"\($0.rawValue)\"" }.joined(separator: ","))
      buffer.append("]}")
    }
    buffer.append(differences.isEmpty ? "]}\n" : "\n]}\n")
  }
}
