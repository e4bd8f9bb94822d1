import Administration
public import Bytes
public import ResponseStorage
import Secrets

/// The audit of single entries, which several threads can share.
public struct EntryAudit: Sendable {
  private let rules: Set<AuditRule>
  private let responses: ResponseAudit
  private let secrets: SecretAudit

  /// Creates an audit.
  public init(_ options: CacheAudit.Options) {
    rules = options.rules
    responses = ResponseAudit(options)
    secrets = SecretAudit(now: options.now)
  }

  /// Audits an entry.
  ///
  /// - Throws: The error of a store that cannot be read.
  public func audit(
    _ response: borrowing StoredResponse, _ body: ScannedBody
  ) throws -> AuditedEntry {
    let url = response.url ?? response.key
    let size = response.bodySize ?? 0
    let secrets = try secrets.findings(on: response, body)
    var findings = secrets.findings + responses.findings(on: response)
    findings.removeAll { !rules.contains($0.rule) }
    let host = url.flatMap { CanonicalURL.host(of: $0) }
    for index in findings.indices {
      findings[index].id = response.id
      findings[index].url = url
      findings[index].host = host
      if findings[index].bytes == 0 { findings[index].bytes = size }
    }
    findings.sort { ($0.rule.severity.rank, $0.rule.id) < ($1.rule.severity.rank, $1.rule.id) }
    return AuditedEntry(
      id: response.id, url: url, size: size, findings: findings,
      secrets: secrets.findings.compactMap(\.secret?.fingerprintNumber),
      isComplete: secrets.isComplete)
  }
}

/// An entry, and what was found in it.
public struct AuditedEntry: Sendable {
  /// The id of the entry.
  let id: StoredResponse.ID
  /// The URL of the entry.
  let url: ByteString?
  /// The size of its body.
  public let size: ByteCount
  /// The findings, the most severe first.
  public let findings: [AuditFinding]
  /// The fingerprints of all its secrets, also of those that are not reported.
  let secrets: [UInt64]
  /// Whether the body could be decoded to its end.
  let isComplete: Bool

  /// About how many bytes of memory this takes.
  public var memory: Int {
    findings.reduce(256 + (url?.bytes.count ?? 0)) { sum, finding in
      sum + 512 + (finding.secret?.value.bytes.count ?? 0) + (finding.detail?.bytes.count ?? 0)
    }
  }
}
