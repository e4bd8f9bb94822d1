import Bytes
import JSON

/// The findings that are known, so that an audit reports only new ones.
public struct AuditBaseline: Sendable {
  /// The identities of the findings, and the ids of their rules.
  public private(set) var findings: [String: String] = [:]

  /// The most bytes that a file with a baseline can have.
  public static let mostBytes = 64 << 20

  /// Creates an empty baseline.
  public init() {}

  /// Reads a baseline.
  ///
  /// - Throws: `JSONError`, or ``NotABaseline``.
  public init(_ text: [UInt8]) throws {
    var (json, isBaseline) = (JSONReader(text), false)
    var findings: [String: String] = [:]
    try json.object { json, name in
      switch ByteString(name) {
      case "schema":
        isBaseline = try ByteString(json.string()) == "urlcache-admin.audit-baseline/1"
      case "findings":
        try json.array { json in
          var (identity, rule) = ("", "")
          try json.object { json, name in
            switch ByteString(name) {
            case "identity": identity = ByteString(try json.string()).string ?? ""
            case "rule": rule = ByteString(try json.string()).string ?? ""
            default: try json.skip()
            }
          }
          findings[identity] = rule
        }
      default: try json.skip()
      }
    }
    guard isBaseline else { throw NotABaseline() }
    self.findings = findings
  }

  /// The error for JSON that is no baseline.
  public struct NotABaseline: Error {}

  /// Whether a finding is known.
  public func contains(_ finding: AuditFinding) -> Bool { findings[finding.identity] != nil }

  /// Adds a finding.
  public mutating func insert(_ finding: AuditFinding) {
    findings[finding.identity] = finding.rule.id
  }

  /// The baseline as JSON, a line for each finding, so that changes can be read in a version control system.
  public var json: [UInt8] {
    var bytes: [UInt8] = []
    var stream = JSONStream(.ascii)
    stream.begin("findings", in: &bytes) {
      $0.member("schema", word: "urlcache-admin.audit-baseline/1")
    }
    let sorted = findings.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    for (identity, rule) in sorted {
      stream.append(to: &bytes) {
        $0.object {
          $0.member("rule", rule)
          $0.member("identity", identity)
        }
      }
    }
    stream.end(in: &bytes)
    return bytes
  }
}
