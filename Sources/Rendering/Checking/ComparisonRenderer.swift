public import Administration
public import Bytes
import JSON
public import ResponseStorage

/// Renders the differences between two caches, one at a time.
public struct ComparisonRenderer: Sendable {
  /// Which secrets the output may contain.
  public let secrets: SecretPolicy

  /// The time to which ages are measured.
  let now: Timestamp

  /// Whether one cache keeps less of an entry than the other, so that what only one knows is no difference.
  public var isReduced = false

  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  public init(secrets: SecretPolicy, now: Timestamp) {
    (self.secrets, self.now) = (secrets, now)
  }

  /// Appends a line for a difference, and indented lines for its detail.
  public func appendText(
    _ difference: StoreComparison.Difference, _ detail: EntryDifference?,
    into buffer: inout TextBuffer
  ) {
    switch difference.change {
    case .added: buffer.append("+ ")
    case .removed: buffer.append("- ")
    case .changed: buffer.append("~ ")
    }
    // The key stands in for a URL that cannot be decoded: it is how the entry is found in both
    // caches.
    buffer.append(shown: secrets.url(difference.url ?? difference.key, for: .people))
    if !difference.aspects.isEmpty {
      buffer.append(" (\(difference.aspects.map(\.rawValue).joined(separator: ", ")))")
    }
    buffer.append("\n")
    if let detail { appendText(detail, into: &buffer) }
  }

  /// Appends the line of totals.
  public func appendTotals(of comparison: StoreComparison, into buffer: inout TextBuffer) {
    for change in StoreComparison.Change.allCases {
      buffer.append(grouped: Int64(comparison.count(change)))
      buffer.append(" \(change.rawValue), ")
    }
    buffer.append(grouped: comparison.same)
    buffer.append(" the same\n")
  }

  /// Begins a JSON object with the totals; its array of differences follows.
  public mutating func beginJSON(
    _ comparison: StoreComparison, of first: StoreDescription, _ second: StoreDescription,
    into buffer: inout TextBuffer
  ) {
    json.begin("differences", in: &buffer.bytes) {
      $0.member(schema: "diff")
      $0.member("first", first)
      $0.member("second", second)
      for change in StoreComparison.Change.allCases {
        $0.member(named: change.rawValue, comparison.count(change))
      }
      $0.member("same", comparison.same)
    }
  }

  /// Appends a difference, with its detail if there is one.
  public mutating func appendJSON(
    _ difference: StoreComparison.Difference, _ detail: EntryDifference?,
    into buffer: inout TextBuffer
  ) {
    // The closure uses `self`, which must not be changed meanwhile.
    var stream = json
    stream.append(to: &buffer.bytes) { json in
      json.object { json in
        json.member("key", url: difference.key, secrets)
        json.member("url", url: difference.url, secrets)
        json.member("change", difference.change.rawValue)
        json.member("differs", difference.aspects.map(\.rawValue))
        if let detail { write(detail, to: &json) }
      }
    }
    json = stream
  }

  /// Ends the JSON object.
  public mutating func endJSON(into buffer: inout TextBuffer) {
    json.end(in: &buffer.bytes)
  }
}
