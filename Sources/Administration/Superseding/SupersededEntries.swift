import Bytes
public import ResponseStorage

/// The entries of a cache that are older versions of a resource that is also stored in a newer version.
///
/// They are found in two passes: the first finds the newest version of each resource, and the second compares each
/// entry with it. Only entries of the same cache partition are compared. Entries with a status other than 200 or 203,
/// incomplete entries, and entries that `URLCache` does not see supersede nothing.
public struct SupersededEntries: ResponseTally {
  /// The state of an entry.
  public enum State: Hashable, Sendable {
    /// The newest version, an entry with the same URL as the newest, or no version of anything.
    case current
    /// An older version.
    case superseded(ResourceVersion.Kind)
    /// A version with an unknown stored time, so it may or may not be older.
    case unknownTime
  }

  /// A resource, by its pattern and partition: two seeded hashes save memory, and no server can predict collisions.
  private struct Resource: Hashable {
    let first: Int
    let second: Int

    init(_ version: ResourceVersion, in partition: ByteString?) {
      first = Self.hash(0, version.pattern, partition)
      second = Self.hash(1, version.pattern, partition)
    }

    private static func hash(_ seed: UInt8, _ pattern: ByteString, _ partition: ByteString?) -> Int
    {
      var hasher = Hasher()
      hasher.combine(seed)
      hasher.combine(pattern)
      hasher.combine(partition)
      return hasher.finalize()
    }
  }

  /// A version of a resource, with what decides which is the newest.
  private struct Version {
    let stored: Timestamp
    let id: StoredResponse.ID
    /// The hash of ``ResourceVersion/marker``.
    let marker: Int

    func isBefore(_ other: Version) -> Bool {
      stored == other.stored ? id < other.id : stored < other.stored
    }
  }

  /// The maximum number of resources; they take about 100 MB.
  private static let mostResources = 1_000_000

  private var newest: [Resource: Version] = [:]
  private var versions: Int64 = 0

  /// Whether all resources fit; entries of the others never count as superseded.
  public private(set) var isComplete = true

  /// Creates an empty tally.
  init() {}

  /// Finds the newest versions in a cache.
  ///
  /// - Throws: The error that the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries; memory grows with the number of versioned resources.
  public init(in source: any ResponseSource) throws {
    var all = Self()
    try source.scan(ScanRequest(Self.projection, in: .any), into: Self()) { entries in
      all.insert(entries)
      entries = Self()
      return .next
    }
    self = all
  }

  /// The fields that ``insert(_:)`` needs.
  static let projection = stateProjection.union(BodyCompleteness.projection)
    .union(.status)

  /// The fields that ``state(of:)`` needs.
  public static let stateProjection: Projection = [.url, .key, .stored, .storage]

  /// Whether any entry may be superseded; if not, a second pass is needless.
  var mayHaveAny: Bool { versions > newest.count }

  /// Adds a response.
  public mutating func insert(_ response: borrowing StoredResponse) {
    guard !response.isOrphan, let version = Self.version(of: response) else { return }
    versions += 1
    // A response that the app cannot use supersedes nothing.
    // An error page for a new version does not replace the old file.
    guard let stored = response.stored, response.status == 200 || response.status == 203,
      response.bodyLocation != .missing, BodyCompleteness(of: response) != .partial
    else { return }
    insert(
      Version(stored: stored, id: response.id, marker: version.marker.hashValue),
      of: Resource(version, in: response.partition))
  }

  /// Adds another tally.
  mutating func insert(_ other: Self) {
    versions += other.versions
    isComplete = isComplete && other.isComplete
    for (resource, version) in other.newest { insert(version, of: resource) }
  }

  private mutating func insert(_ version: Version, of resource: Resource) {
    if let known = newest[resource] {
      if known.isBefore(version) { newest[resource] = version }
    } else if newest.count < Self.mostResources {
      newest[resource] = version
    } else {
      isComplete = false
    }
  }

  /// Returns the state of an entry.
  public func state(of response: borrowing StoredResponse) -> State {
    guard !response.isOrphan, let version = Self.version(of: response),
      let newest = newest[Resource(version, in: response.partition)],
      newest.marker != version.marker.hashValue
    else { return .current }
    // Without a time it may be older than the newest version, or newer.
    guard let stored = response.stored else { return .unknownTime }
    // By the time of storing, since hashes have no order, and a roll-back makes an older number the
    // newest version.
    let isOlder = Version(stored: stored, id: response.id, marker: 0).isBefore(newest)
    return isOlder ? .superseded(version.kind) : .current
  }

  private static func version(of response: borrowing StoredResponse) -> ResourceVersion? {
    (response.url ?? response.key).flatMap { ResourceVersion(of: $0) }
  }
}
