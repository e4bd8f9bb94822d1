public import Auditing
import Bytes
import JSON
import ResponseStorage

/// Renders the rules of an audit.
public enum AuditRuleRenderer {
  /// Appends the rules as text, or as JSON.
  public static func append(_ rules: [AuditRule], asJSON: Bool, into buffer: inout TextBuffer) {
    if asJSON {
      return buffer.writeJSON(schema: "audit-rules") {
        $0.array("rules", objects: rules) { json, rule in json.members(of: rule) }
      }
    }
    for rule in rules {
      buffer.append(rule.id, as: rule.severity.auditEmphasis)
      buffer.append(" (\(rule.severity.rawValue)): \(rule.summary)\n")
      buffer.append("    \(rule.reason)\n    \(rule.fix)\n")
    }
  }
}
