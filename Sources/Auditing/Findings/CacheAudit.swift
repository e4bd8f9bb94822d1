public import Administration
public import Bytes
public import Files
public import ResponseStorage

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

  private var duplicates: TrackingDuplicates

  /// Creates an audit.
  ///
  /// - Parameter temporaryFolder: The folder for unnamed files, which many entries need.
  public init(_ options: Options, temporaryFolder: String) {
    self.options = options
    duplicates = TrackingDuplicates(temporaryFolder: temporaryFolder)
  }

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
