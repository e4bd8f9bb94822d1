public import Administration
import Bytes
import JSON
public import ResponseStorage

/// Renders which rule applies to which entry.
public struct RuleRenderer {
  /// The output format.
  public enum Format: Hashable, Sendable {
    case text, json
  }

  private let rules: EntryRules
  private let format: Format
  private let secrets: SecretPolicy
  private var json = JSONStream(.hostileText)

  /// Creates a renderer.
  public init(_ rules: EntryRules, _ format: Format, secrets: SecretPolicy) {
    self.rules = rules
    self.format = format
    self.secrets = secrets
  }

  /// Appends the text before the entries.
  public mutating func begin(_ store: StoreDescription, into buffer: inout TextBuffer) {
    guard format == .json else {
      for (index, rule) in rules.all.enumerated() {
        buffer.append("Rule \(index + 1)")
        if let name = rule.name { buffer.append(" '\(HostileText.shown(name))'") }
        if let place = rule.place {
          buffer.append(" from \(HostileText.shown(place.path)):\(place.line)")
        }
        buffer.append("\n")
      }
      // Fixed widths: the rows are written while the cache is read, before any later cell is known.
      buffer.append("\nRULE  FATE         URL\n")
      return
    }
    let rules = rules
    json.begin("entries", in: &buffer.bytes) {
      $0.member(schema: "rules-test")
      $0.member("cache", store)
      // All rules, with where they are written: the number of a rule alone is of no use once rules
      // come from several files.
      $0.array("rules", .lines, objects: rules.all.enumerated()) { json, item in
        json.member("rule", item.offset + 1)
        json.member("name", item.element.name)
        json.member("path", item.element.place?.path)
        json.member("line", item.element.place?.line)
      }
    }
  }

  /// Appends an entry.
  ///
  /// - Parameter isPinned: Whether the entry is kept regardless of rules.
  public mutating func append(
    _ response: borrowing StoredResponse, _ verdict: EntryRules.Verdict?, isPinned: Bool,
    into buffer: inout TextBuffer
  ) {
    let url = response.url ?? response.key
    guard format == .json else {
      let rule = verdict.map { "\($0.rule)" } ?? "-"
      // A pin is stronger than any rule, so people see it in place of the fate that the rule would
      // have had.
      let fate = isPinned ? "pinned" : verdict?.fate.rawValue ?? "-"
      buffer.append(UInt8(ascii: " "), count: 4 - rule.utf8.count)
      buffer.append("\(rule)  \(fate)")
      buffer.append(UInt8(ascii: " "), count: 13 - fate.utf8.count)
      buffer.append(shown: url.map { secrets.url($0, for: .people) } ?? "-")
      buffer.append("\n")
      return
    }
    let (id, masking) = (response.id, secrets)
    json.append(to: &buffer.bytes) {
      $0.object {
        $0.member(id: id)
        $0.member("url", url: url, masking)
        $0.member("rule", verdict.map { Int64($0.rule) })
        $0.member("fate", verdict?.fate.rawValue)
        $0.member("pinned", isPinned)
      }
    }
  }

  /// Appends the text after the entries.
  public mutating func finish(into buffer: inout TextBuffer) {
    if format == .json { json.end(in: &buffer.bytes) }
  }
}
