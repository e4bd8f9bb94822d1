public import Administration
import Bytes
public import ResponseStorage

/// Which rule decides on which entry, as text.
public struct PolicyRenderer {
  /// How it is written.
  public enum Format: Hashable, Sendable {
    case text, json
  }

  private let policy: Policy
  private let format: Format
  private let secrets: SecretPolicy
  private var count = 0

  /// Creates a renderer.
  public init(_ policy: Policy, _ format: Format, secrets: SecretPolicy) {
    self.policy = policy
    self.format = format
    self.secrets = secrets
  }

  /// Appends what comes before the entries.
  public func begin(_ store: StoreDescription, into buffer: inout TextBuffer) {
    guard format == .json else {
      for (index, rule) in policy.rules.enumerated() {
        buffer.append("Rule \(index + 1)")
        if let name = rule.name { buffer.append(" '\(HostileText.shown(name))'") }
        if let place = rule.place {
          buffer.append(" of \(HostileText.shown(place.path)):\(place.line)")
        }
        buffer.append("\n")
      }
      buffer.append("\nRULE  FATE         URL\n")
      return
    }
    buffer.append("{\"schema\":\"urlcache-admin.policy-test/1\",\"cache\":")
    buffer.append(json: store)
    buffer.append(",\"rules\":[")
    for (index, rule) in policy.rules.enumerated() {
      buffer.append(index == 0 ? "\n{\"rule\":" : ",\n{\"rule\":")
      buffer.append(integer: Int64(index + 1))
      buffer.append(",\"name\":")
      buffer.append(json: rule.name)
      buffer.append(",\"path\":")
      buffer.append(json: rule.place?.path)
      buffer.append(",\"line\":")
      buffer.append(json: rule.place.map { Int64($0.line) })
      buffer.append(UInt8(ascii: "}"))
    }
    buffer.append(policy.rules.isEmpty ? "]" : "\n]")
    buffer.append(",\"entries\":[")
  }

  /// Appends an entry.
  ///
  /// - Parameter isPinned: Whether it stays whatever the rule says.
  public mutating func append(
    _ response: borrowing StoredResponse, _ verdict: Policy.Verdict?, isPinned: Bool,
    into buffer: inout TextBuffer
  ) {
    defer { count += 1 }
    let url = response.url ?? response.key
    guard format == .json else {
      let rule = verdict.map { "\($0.rule)" } ?? "-"
      let fate = isPinned ? "pinned" : verdict?.fate.rawValue ?? "-"
      buffer.append(UInt8(ascii: " "), count: 4 - rule.utf8.count)
      buffer.append("\(rule)  \(fate)")
      buffer.append(UInt8(ascii: " "), count: 13 - fate.utf8.count)
      buffer.append(shown: url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("\n")
      return
    }
    buffer.append(count == 0 ? "\n{\"id\":" : ",\n{\"id\":")
    buffer.append(json: response.id)
    buffer.append(",\"url\":")
    buffer.append(json: url.map { secrets.url($0, for: .programs) }, orBase64Named: "url")
    buffer.append(",\"rule\":")
    buffer.append(json: verdict.map { Int64($0.rule) })
    buffer.append(",\"fate\":")
    buffer.append(json: verdict?.fate.rawValue)
    buffer.append(isPinned ? ",\"pinned\":true" : ",\"pinned\":false")
    buffer.append(UInt8(ascii: "}"))
  }

  /// Appends what comes after the entries.
  public func finish(into buffer: inout TextBuffer) {
    if format == .json { buffer.append(count == 0 ? "]}\n" : "\n]}\n") }
  }
}
