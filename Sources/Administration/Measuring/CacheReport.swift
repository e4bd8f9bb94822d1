public import Bytes
public import ResponseStorage

/// What a cache holds, how old and how fresh it is, and what could go: all that a report shows.
///
/// It has the same size for every cache: of hosts, paths and entries it names the largest, and sums up
/// the others.
public struct CacheReport: Hashable, Sendable {
  /// What can still be done with a response.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It is fresh.
    case fresh
    /// It is stale, and has a validator.
    case validatable
    /// It is stale, and has no validator: its origin has to send all of it again.
    case expired
    /// It has no lifetime, not even by a heuristic.
    case noLifetime = "no-lifetime"
    /// Its header fields or the time of its storing are not known.
    case unknown
  }

  /// Entries added up.
  public struct Sum: Hashable, Sendable {
    /// The number of entries.
    public var entries: Int64
    /// The sum of the sizes of their bodies.
    public var bytes: ByteCount

    /// Creates a sum.
    public init(entries: Int64 = 0, bytes: ByteCount = 0) {
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// One of the largest entries.
  public struct Entry: Hashable, Sendable {
    /// What the store calls it.
    public var id: StoredResponse.ID
    /// The URL of the response.
    public var url: ByteString?
    /// The media type of the response.
    public var mimeType: ByteString?
    /// The status of the response.
    public var status: Int64?
    /// The size of the body; 0 if it is missing.
    public var size: ByteCount
    /// When the response was last stored or refreshed.
    public var stored: Timestamp?
    /// What can still be done with it.
    public var state: State
    /// Where the body is.
    public var bodyLocation: StoredResponse.BodyLocation?

    /// Creates an entry of which nothing else is known.
    public init(id: StoredResponse.ID, size: ByteCount, state: State) {
      self.id = id
      self.size = size
      self.state = state
    }
  }

  /// The entries below a folder of a host.
  public struct Folder: Hashable, Sendable {
    /// The first segments of the paths, without a `/` at the end.
    public var path: ByteString
    /// All entries below it.
    public var sum = Sum()
    /// What stale entries hold of that, in bytes.
    public var staleBytes: ByteCount = 0
    /// The largest entries, the largest first.
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
    /// What stale entries hold of that, in bytes.
    public var staleBytes: ByteCount = 0
    /// The largest folders, the largest first.
    public var folders: [Folder] = []

    /// Creates a host without entries.
    public init(name: ByteString?) {
      self.name = name
    }
  }

  /// Entries by the state that they are in.
  public struct StateSums: Hashable, Sendable {
    private var fresh = Sum()
    private var validatable = Sum()
    private var expired = Sum()
    private var noLifetime = Sum()
    private var unknown = Sum()

    /// Creates sums of nothing.
    public init() {}

    /// The entries in a state.
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

    /// Counts other entries.
    mutating func insert(_ other: StateSums) {
      for state in State.allCases { self[state] = self[state].adding(other[state]) }
    }

    /// All entries.
    public var total: Sum { State.allCases.reduce(Sum()) { $0.adding(self[$1]) } }
  }

  /// The entries that are so old.
  public struct AgeGroup: Hashable, Sendable {
    /// The range of ages; `nil` if the age is not known.
    public var name: ByteString?
    /// The entries.
    public var sums = StateSums()

    /// Creates a group without entries.
    public init(name: ByteString?) {
      self.name = name
    }
  }

  /// What would go with everything that is older than a limit.
  public struct AgeLimit: Hashable, Sendable {
    /// The limit, in seconds.
    public var seconds: Int64
    /// The entries that would go.
    public var removed = Sum()
    /// Those of them that are still fresh.
    public var fresh = Sum()

    /// Creates a limit that nothing is beyond.
    public init(seconds: Int64) {
      self.seconds = seconds
    }
  }

  /// The entries whose bodies are at most so large, but larger than those of the group before.
  public struct SizeGroup: Hashable, Sendable {
    /// The size of the largest body that belongs here, in bytes.
    public var largest: ByteCount
    /// The entries.
    public var sum: Sum

    /// Creates a group.
    public init(largest: ByteCount, sum: Sum) {
      self.largest = largest
      self.sum = sum
    }
  }

  /// A kind of finding.
  public struct Problem: Hashable, Sendable {
    /// The kind.
    public var code: Finding.Code
    /// How many there are.
    public var count: Int64
  }

  /// The store.
  public var store: StoreDescription
  /// The moment that everything is measured at.
  public var now: Timestamp
  /// The expiries of an application's own that counted.
  public var expiryRules: [UserInfoExpiry.Rule] = []
  /// What the cache takes up, without groups.
  public var usage: UsageReport
  /// The bytes of bodies that lie in the database, or in the archive of their response.
  public var inlineBytes: ByteCount = 0
  /// The entries by their state.
  public var states = StateSums()
  /// The entries by their age, in the order of the ranges, which all have a group.
  public var ages: [AgeGroup] = []
  /// What limits of age would remove, the lowest limit first.
  public var ageLimits: [AgeLimit] = []
  /// The sizes of bodies that are there, the smallest first; sizes without bodies are left out.
  public var sizes: [SizeGroup] = []
  /// The largest hosts, the largest first.
  public var hosts: [Host] = []
  /// What all other hosts hold; `nil` if there are none.
  public var otherHosts: UsageReport.Rest?
  /// The largest entries, the largest first.
  public var largest: [Entry] = []
  /// What could be done, the most useful first.
  public var suggestions: [Suggestion] = []
  /// What `check` finds wrong, the most severe kinds first.
  public var problems: [Problem] = []
  /// How many findings there are of each severity, as `check` counts them.
  public var findingCounts: [Finding.Severity: Int64] = [:]
  /// The entries that a repair removes; their sizes are not known.
  public var brokenEntries: Int64 = 0
  /// The files that a repair of orphans removes, as entries are added up.
  public var orphans = Sum()

  /// Creates a report of a cache without entries.
  public init(of store: StoreDescription, _ usage: UsageReport, now: Timestamp) {
    self.store = store
    self.usage = usage
    self.now = now
  }

  /// The bytes of what is past its lifetime.
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
