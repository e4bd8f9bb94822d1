public import Administration
public import Bytes
public import ResponseStorage

/// An audit of a cache: entry by entry, and then of what only all of them show.
public struct CacheAudit: Sendable {
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

  /// The fingerprints of all secrets of entries, also of those that are not reported.
  public private(set) var fingerprints: Set<String> = []

  private let responses: ResponseAudit
  private let secrets: SecretAudit
  private var duplicates = TrackingDuplicates()

  /// Creates an audit.
  public init(_ options: Options) {
    self.options = options
    responses = ResponseAudit(options)
    secrets = SecretAudit(now: options.now)
  }

  /// Returns the findings about an entry.
  ///
  /// - Throws: The error of a store that cannot be read.
  public mutating func findings(
    on response: borrowing StoredResponse, _ body: ScannedBody
  ) throws -> [AuditFinding] {
    entries += 1
    let url = response.url ?? response.key
    let size = response.bodySize ?? 0
    var secrets = try secrets.findings(on: response, body)
    if !secrets.isComplete { undecodable += 1 }
    fingerprints.formUnion(secrets.fingerprints)
    if let url, options.rules.contains(.duplicates) {
      duplicates.insert(url, id: response.id, size: size)
    }
    var findings = secrets.takeFindings() + responses.findings(on: response)
    findings.removeAll { !options.rules.contains($0.rule) }
    let host = url.flatMap { CanonicalURL.host(of: $0) }
    for index in findings.indices {
      findings[index].id = response.id
      findings[index].url = url
      findings[index].host = host
      if findings[index].bytes == 0 { findings[index].bytes = size }
    }
    return findings.sorted {
      ($0.rule.severity.rank, $0.rule.id) < ($1.rule.severity.rank, $1.rule.id)
    }
  }

  /// Returns the findings that only all entries together show, in the order of the first entries.
  public func findingsOnAll() -> [AuditFinding] { duplicates.findings }
}
