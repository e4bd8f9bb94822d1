public import Administration
public import Bytes
public import Files
import HTTPCaching
public import ResponseStorage
import Secrets

/// What an audit of a cache remembers of its entries.
public struct CacheAudit {
  /// The settings of an audit.
  public struct Options: Sendable {
    /// The time with which lifetimes and expiries are compared.
    public var now: Timestamp
    /// The platform whose rules decide whether a response is used.
    public var platform: CachePlatform
    /// The disk capacity that the app set; `nil` if it is unknown.
    public var capacity: ByteCount?
    /// How the app limits the lifetime of entries.
    public var expiryRules = UserInfoExpiry.known
    /// The rules to apply.
    public var rules = Set(AuditRule.all)

    /// Creates settings with all rules.
    public init(now: Timestamp, platform: CachePlatform) {
      (self.now, self.platform) = (now, platform)
    }
  }

  /// What to decode of each entry.
  public static let projection = Projection.all

  /// The settings.
  public let options: Options

  /// The number of entries.
  public private(set) var entries: Int64 = 0

  /// The number of bodies that could not be decoded to their end.
  public private(set) var undecodable: Int64 = 0

  /// The secrets of entries, also those that are not reported.
  public private(set) var secrets = KnownSecrets()

  private var duplicates = TrackingDuplicates()

  /// Creates an audit.
  public init(_ options: Options) { self.options = options }

  /// Adds an entry.
  public mutating func insert(_ entry: AuditedEntry) throws(FileError) {
    entries += 1
    if !entry.isComplete { undecodable += 1 }
    secrets.insert(entry.secrets)
    if let url = entry.url, options.rules.contains(.duplicates) {
      try duplicates.insert(url, id: entry.id, size: entry.size)
    }
  }

  /// Calls `body` with each finding that only all entries together show, in the order of the first entries.
  ///
  /// Then no entries can be added anymore.
  public mutating func forEachFindingOnAll(_ body: (AuditFinding) throws -> Void) throws {
    try duplicates.removeAll(body)
  }
}

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
    var findings = secrets.findings
    if response.isResponse { findings += responses.findings(on: response) }
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
      id: response.id, url: response.isResponse ? url : nil, size: size, findings: findings,
      secrets: secrets.findings.compactMap(\.secret?.fingerprintNumber),
      isComplete: secrets.isComplete)
  }
}

/// An entry, and what was found in it.
public struct AuditedEntry: Sendable {
  /// The id of the entry.
  let id: StoredResponse.ID
  /// The URL of the response; `nil` also if it is none.
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

/// The rules about a single response that are not about its secrets.
struct ResponseAudit: Sendable {
  /// The settings of the audit.
  let options: CacheAudit.Options

  init(_ options: CacheAudit.Options) { self.options = options }

  /// Returns the findings on a response.
  func findings(on response: borrowing StoredResponse) -> [AuditFinding] {
    var findings: [AuditFinding] = []
    checkURL(of: response, &findings)
    checkBody(of: response, &findings)
    let explanation = Explanation(of: response, asking: inquiry(), withHints: false)
    // Without header fields or a time, nothing is known about caching.
    guard let details = explanation.details else { return findings }
    checkSharing(of: response, details, &findings)
    checkStoring(details, &findings)
    checkStatus(details, &findings)
    checkFields(details, &findings)
    checkLifetime(details, &findings)
    return findings
  }

  /// Returns the question whether a request is answered from the cache.
  ///
  /// - Parameter fields: The credentials of the request.
  func inquiry(with fields: [FieldLine] = []) -> Inquiry {
    var inquiry = Inquiry(now: options.now, platform: options.platform)
    inquiry.expiryRules = options.expiryRules
    inquiry.fields = fields
    return inquiry
  }

  private func checkBody(
    of response: borrowing StoredResponse, _ findings: inout [AuditFinding]
  ) {
    guard let size = response.bodySize else { return }
    if let capacity = options.capacity, size.bytes > capacity.bytes / 20 {
      findings.append(AuditFinding(.largeBody, .body))
    }
    if Self.isUncompressed(response, size) {
      findings.append(AuditFinding(.uncompressed, .body, detail: response.mimeType))
    }
  }

  /// The least size of text that is worth compressing: it fits into two packets.
  private static let worthCompressing: ByteCount = 2_048

  private static func isUncompressed(
    _ response: borrowing StoredResponse, _ size: ByteCount
  ) -> Bool {
    guard size >= worthCompressing, let headers = response.responseHeaders,
      headers.firstValue(named: "content-encoding") == nil,
      let type = response.mimeType?.asciiLowercased.bytes
    else { return false }
    return type.starts(with: "text/".utf8)
      || ["json", "xml", "javascript", "ecmascript", "svg+xml"].contains { word in
        type.reversed().starts(with: word.utf8.reversed())
      }
  }
}
