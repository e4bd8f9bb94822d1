import Bytes
public import ResponseStorage

/// The entries of a cache that are older versions of a resource, of which a newer one is stored too.
///
/// They are found in two passes: the first notes the newest version of each resource, and the second compares each entry
/// with that. Only entries of one cache partition are compared. An entry of another status than 2xx makes none
/// superseded, and neither does one that `URLCache` does not see.
public struct SupersededEntries: ResponseTally {
  /// What an entry is.
  public enum State: Hashable, Sendable {
    /// The newest version, one with the same URL as the newest, or no version of anything.
    case current
    /// An older version.
    case superseded(ResourceVersion.Kind)
    /// A version of which it is not known when it was stored, so it is not known whether it is an older one.
    case unknownTime
  }

  /// A resource by its pattern and its partition: as two hashes, which nobody can foresee.
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

  /// A version of a resource, as far as it counts for which is the newest.
  private struct Version {
    let stored: Timestamp
    let id: StoredResponse.ID
    /// The hash of ``ResourceVersion/marker``.
    let marker: Int

    func isBefore(_ other: Version) -> Bool {
      stored == other.stored ? id < other.id : stored < other.stored
    }
  }

  /// How many resources are kept: about 100 MB of them.
  private static let mostResources = 1_000_000

  private var newest: [Resource: Version] = [:]
  private var versions: Int64 = 0

  /// Whether all resources had room; of the others no entry counts as superseded.
  public private(set) var isComplete = true

  /// Starts without entries.
  init() {}

  /// Looks through a cache.
  ///
  /// - Throws: What the source throws.
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

  /// What a response has to have been decoded for ``insert(_:)``.
  static let projection = stateProjection.union(BodyCompleteness.projection)
    .union(.status)

  /// What a response has to have been decoded for ``state(of:)``.
  public static let stateProjection: Projection = [.url, .key, .stored, .storage]

  /// Whether any entry may be superseded; if not, a second pass would find none.
  var mayHaveAny: Bool { versions > newest.count }

  /// Notes a response.
  public mutating func insert(_ response: borrowing StoredResponse) {
    guard !response.isOrphan, let version = Self.version(of: response) else { return }
    versions += 1
    // What an app cannot use takes the place of nothing.
    guard let stored = response.stored, response.status == 200 || response.status == 203,
      response.bodyLocation != .missing, BodyCompleteness(of: response) != .partial
    else { return }
    insert(
      Version(stored: stored, id: response.id, marker: version.marker.hashValue),
      of: Resource(version, in: response.partition))
  }

  /// Notes the responses that another one has noted.
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

  /// What an entry of the cache is.
  public func state(of response: borrowing StoredResponse) -> State {
    guard !response.isOrphan, let version = Self.version(of: response),
      let newest = newest[Resource(version, in: response.partition)],
      newest.marker != version.marker.hashValue
    else { return .current }
    guard let stored = response.stored else { return .unknownTime }
    let isOlder = Version(stored: stored, id: response.id, marker: 0).isBefore(newest)
    return isOlder ? .superseded(version.kind) : .current
  }

  private static func version(of response: borrowing StoredResponse) -> ResourceVersion? {
    (response.url ?? response.key).flatMap { ResourceVersion(of: $0) }
  }
}
