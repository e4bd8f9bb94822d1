public import Bytes
public import ResponseStorage

/// The contents of a cache, their age and freshness, and what could be removed: the data of a report.
///
/// Its size is bounded for every cache: it lists the largest hosts, paths and entries, and sums up the others.
public struct CacheReport: Hashable, Sendable {
  /// The freshness of a response, and whether it can be validated.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It is fresh.
    case fresh
    /// It is stale, and has a validator.
    case validatable
    /// It is stale and has no validator: the origin server has to send all of it again.
    case expired
    /// It has no lifetime, not even by a heuristic.
    case noLifetime = "no-lifetime"
    /// Its header fields or its stored time are unknown.
    case unknown
  }

  /// The number and size of entries.
  public struct Sum: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int64
    /// The total size of their bodies.
    public var bytes: ByteCount

    /// Creates a sum.
    public init(entries: Int64 = 0, bytes: ByteCount = 0) {
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// One of the largest entries.
  public struct Entry: Hashable, Sendable {
    /// The id in the store.
    public var id: StoredResponse.ID
    /// The URL of the response.
    public var url: ByteString?
    /// The media type of the response.
    public var mimeType: ByteString?
    /// The status of the response.
    public var status: Int64?
    /// The size of the body; 0 if it is missing.
    public var size: ByteCount
    /// The time at which the response was last stored or refreshed.
    public var stored: Timestamp?
    /// The freshness of the response.
    public var state: State
    /// The location of the body.
    public var bodyLocation: StoredResponse.BodyLocation?

    /// Creates an entry without details.
    public init(id: StoredResponse.ID, size: ByteCount, state: State) {
      self.id = id
      self.size = size
      self.state = state
    }
  }

  /// The entries in a folder of a host.
  public struct Folder: Hashable, Sendable {
    /// The first segments of the path, without a trailing `/`.
    public var path: ByteString
    /// All entries in the folder.
    public var sum = Sum()
    /// The size of stale entries, in bytes.
    public var staleBytes: ByteCount = 0
    /// The largest entries, in descending order.
    public var entries: [Entry] = []

    /// Creates a folder without entries.
    public init(path: ByteString) {
      self.path = path
    }
  }

  /// The entries of a host.
  public struct Host: Hashable, Sendable {
    /// The name; `nil` for URLs without a host.
    public var name: ByteString?
    /// All entries of the host.
    public var sum = Sum()
    /// The size of stale entries, in bytes.
    public var staleBytes: ByteCount = 0
    /// The largest folders, in descending order.
    public var folders: [Folder] = []

    /// Creates a host without entries.
    public init(name: ByteString?) {
      self.name = name
    }
  }

  /// Entries by state.
  public struct StateSums: Hashable, Sendable {
    private var fresh = Sum()
    private var validatable = Sum()
    private var expired = Sum()
    private var noLifetime = Sum()
    private var unknown = Sum()

    /// Creates empty sums.
    public init() {}

    /// Returns the entries in a state.
    public subscript(state: State) -> Sum {
      get {
        switch state {
        case .fresh: fresh
        case .validatable: validatable
        case .expired: expired
        case .noLifetime: noLifetime
        case .unknown: unknown
        }
      }
      set {
        switch state {
        case .fresh: fresh = newValue
        case .validatable: validatable = newValue
        case .expired: expired = newValue
        case .noLifetime: noLifetime = newValue
        case .unknown: unknown = newValue
        }
      }
    }

    /// Adds other sums.
    mutating func insert(_ other: StateSums) {
      for state in State.allCases { self[state] = self[state].adding(other[state]) }
    }

    /// All entries.
    public var total: Sum { State.allCases.reduce(Sum()) { $0.adding(self[$1]) } }
  }

  /// The entries in a range of ages.
  public struct AgeGroup: Hashable, Sendable {
    /// The range of ages; `nil` for entries of unknown age.
    public var name: ByteString?
    /// The entries.
    public var sums = StateSums()

    /// Creates a group without entries.
    public init(name: ByteString?) {
      self.name = name
    }
  }

  /// The entries that an age limit would remove.
  public struct AgeLimit: Hashable, Sendable {
    /// The limit, in seconds.
    public var seconds: Int64
    /// The entries over the limit.
    public var removed = Sum()
    /// The fresh entries among them.
    public var fresh = Sum()

    /// Creates a limit without entries.
    public init(seconds: Int64) {
      self.seconds = seconds
    }
  }

  /// The entries whose bodies are at most this large, but larger than those of the previous group.
  public struct SizeGroup: Hashable, Sendable {
    /// The largest size in the group, in bytes.
    public var largest: ByteCount
    /// The entries.
    public var sum: Sum

    /// Creates a group.
    public init(largest: ByteCount, sum: Sum) {
      self.largest = largest
      self.sum = sum
    }
  }

  /// The findings with the same code.
  public struct FindingCount: Hashable, Sendable {
    /// The code.
    public var code: Finding.Code
    /// The number of findings.
    public var count: Int64
  }

  /// The store.
  public var store: StoreDescription
  /// The time of the measurement.
  public var now: Timestamp
  /// The expiry rules of the app that were applied.
  public var expiryRules: [UserInfoExpiry.Rule] = []
  /// The size on disk, without groups.
  public var usage: UsageReport
  /// The size of bodies inside the database or the archive of their response, in bytes.
  public var inlineBytes: ByteCount = 0
  /// The entries by state.
  public var states = StateSums()
  /// The entries by age, with a group for each range, in order.
  public var ages: [AgeGroup] = []
  /// Whether ``ages`` are dates, oldest first, because nearly all entries have the same age.
  public var agesAreDates = false
  /// The entries that age limits would remove, lowest limit first.
  public var ageLimits: [AgeLimit] = []
  /// The existing bodies by size, smallest first; sizes without bodies are left out.
  public var sizes: [SizeGroup] = []
  /// The largest hosts, in descending order.
  public var hosts: [Host] = []
  /// The entries of all other hosts; `nil` if there are none.
  public var otherHosts: UsageReport.Rest?
  /// The largest entries, in descending order.
  public var largest: [Entry] = []
  /// The suggestions, most useful first.
  public var suggestions: [Suggestion] = []
  /// The findings of `check`, most severe first.
  public var findings: [FindingCount] = []
  /// The number of findings of each severity, as `check` counts them.
  public var findingCounts: [Finding.Severity: Int64] = [:]
  /// The number of entries that a repair removes; their sizes are unknown.
  public var brokenEntries: Int64 = 0
  /// The files that a repair of orphans removes.
  public var orphans = Sum()

  /// Creates a report of a cache without entries.
  public init(of store: StoreDescription, _ usage: UsageReport, now: Timestamp) {
    self.store = store
    self.usage = usage
    self.now = now
  }

  /// The size of stale entries, in bytes.
  public var staleBytes: ByteCount {
    states[.validatable].bytes + states[.expired].bytes
  }
}

extension CacheReport.Sum {
  /// Counts an entry.
  mutating func insert(_ size: ByteCount) {
    entries += 1
    bytes += size
  }

  /// This sum and another.
  func adding(_ other: Self) -> Self {
    Self(entries: entries + other.entries, bytes: bytes + other.bytes)
  }
}

extension CacheReport.State {
  /// The fields that ``init(of:at:rules:)`` needs.
  static let projection = ResponseFreshness.projection

  /// Creates the state of a response.
  init(of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]) {
    guard let freshness = ResponseFreshness(of: response, at: now, rules: rules) else {
      self = .unknown
      return
    }
    switch freshness.state {
    case .fresh: self = .fresh
    // A stale response with a validator can still save its body, if the server answers 304. Without
    // one, it will be downloaded again anyway, so removing it costs nothing.
    case .stale: self = freshness.has(.none) ? .expired : .validatable
    case .noLifetime: self = .noLifetime
    }
  }

  /// Whether the response is past its lifetime.
  public var isStale: Bool { self == .validatable || self == .expired }
}

extension CacheReport {
  /// Looks up the details of the entries in the report.
  mutating func describeEntries(from source: any ResponseSource) throws {
    var ids: Set<StoredResponse.ID> = []
    // URLs and other details are looked up only for the entries that the report shows: keeping them
    // for all candidates would take memory that grows with the cache.
    changeEntries { ids.insert($0.id) }
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse(of: ids.sorted(), [.url, .mimeType, .status, .stored, .body]) {
      responses[$0.id] = copy $0
      return .next
    }
    changeEntries { entry in
      guard let response = responses[entry.id] else { return }
      entry.url = response.url
      entry.mimeType = response.mimeType
      entry.status = response.status
      entry.stored = response.stored
      entry.bodyLocation = response.bodyLocation
    }
  }

  private mutating func changeEntries(_ change: (inout Entry) -> Void) {
    for place in largest.indices { change(&largest[place]) }
    for host in hosts.indices {
      for folder in hosts[host].folders.indices {
        for place in hosts[host].folders[folder].entries.indices {
          change(&hosts[host].folders[folder].entries[place])
        }
      }
    }
  }
}

extension CacheReport {
  /// Measures a cache in one pass over its entries, and checks it in another.
  ///
  /// A sum that overflows stays at the maximum: a store can claim any size.
  ///
  /// - Parameters:
  ///   - now: The time that ages are relative to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  ///   - capacityBytes: The limit to compare the size on disk with, if there is one.
  ///   - clock: The system time, for the age of files; `nil` for `now`.
  /// - Throws: The error that the source throws, or `FileError` if a temporary file cannot be used.
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries. Memory grows with the number of body files only.
  public init(
    of source: any ResponseSource, at now: Timestamp, expiryRules: [UserInfoExpiry.Rule],
    capacityBytes: ByteCount?, clock: Timestamp? = nil
  ) throws {
    var usage = UsageReport(footprint: try source.footprint())
    usage.capacityBytes = capacityBytes
    usage.inUseBytes = try UsageReport.spaceWithoutEntries(
      of: source, usage.footprint, at: clock ?? now)
    self.init(of: source.description, usage, now: now)
    self.expiryRules = expiryRules
    let empty = CacheReportTally(
      now: now, expiryRules: expiryRules,
      largestBody: UsageReport.largestBody(of: source, capacityBytes))
    var tally = empty
    var search = VersionSearch()
    // Sums need no order, so each reading thread adds up its part, and only sums are passed between
    // threads.
    try source.scan(ScanRequest(CacheReportTally.projection, in: .any), into: empty) { part in
      try search.insert(part.removeVersions())
      tally.insert(part)
      part = empty
      return .next
    }
    try tally.write(to: &self, lookingUpIn: source)
    self.usage.superseded = try search.sum()
    // In a pass of its own, because it needs more of each response than all other figures together.
    self.usage.savings = try CacheSavings(of: source, at: now, expiryRules: expiryRules)
    try check(source, clock: clock ?? now)
    suggestions = Suggestion.all(for: self)
  }

  /// Counts the findings that `check` reports.
  private mutating func check(_ source: any ResponseSource, clock: Timestamp) throws {
    var broken: StoredResponse.ID?
    let options = StoreCheck.Options(fully: false, repairs: [], now: now, clock: clock)
    func record(_ finding: Finding) {
      findingCounts[finding.code.severity, default: 0] += 1
      if let place = findings.firstIndex(where: { $0.code == finding.code }) {
        findings[place].count += 1
      } else {
        findings.append(.init(code: finding.code, count: 1))
      }
      if let orphan = finding.orphan { orphans.insert(orphan.size) }
      // The findings on an entry follow each other.
      guard let repair = finding.code.repair, repair != .orphans, let id = finding.id, id != broken
      else { return }
      broken = id
      brokenEntries += 1
    }
    let check = try StoreCheck(of: source, options) { record($0) }
    // An app may be about to store a body. `check` looks again, but a report describes a single moment.
    for suspect in check.suspects { record(suspect.finding) }
    let severities = Finding.Severity.allCases
    findings.sort {
      let ranks = [$0, $1].map { severities.firstIndex(of: $0.code.severity) ?? 0 }
      return ranks[0] == ranks[1] ? $0.code.name < $1.code.name : ranks[0] < ranks[1]
    }
  }
}
