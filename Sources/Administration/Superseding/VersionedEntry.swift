import Bytes
import ResponseStorage
import SQLite

/// An entry that is a version of a resource, with what decides which version is the newest.
struct VersionedEntry: ScratchRow, Sendable {
  /// A resource, by its pattern and partition: two seeded hashes are small, and no server can predict collisions.
  private struct Resource: Hashable {
    let first: Int
    let second: Int

    init(first: Int, second: Int) { (self.first, self.second) = (first, second) }

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

  /// The id of the entry.
  let id: StoredResponse.ID
  /// When it was stored; `nil` if unknown.
  let stored: Timestamp?
  /// The size of its body.
  let size: ByteCount
  /// Whether it supersedes older versions.
  let supersedes: Bool
  private let resource: Resource
  /// The hash of ``ResourceVersion/marker``.
  private let marker: Int

  /// The number of entries in a tally, about 100 bytes each, at which it is passed on.
  static let mostInTally = 8_192

  /// The fields that ``init(_:)`` needs.
  static let projection: Projection = BodyCompleteness.projection.union([
    .url, .key, .stored, .storage, .status,
  ])

  /// Creates the entry of a response; `nil` if its URL is not a version of anything, or `URLCache` does not see it.
  init?(_ response: borrowing StoredResponse) {
    guard let url = response.url ?? response.key,
      let version = ResourceVersion(of: url)
    else { return nil }
    id = response.id
    stored = response.stored
    size = response.bodySize ?? 0
    // A response that the app cannot use supersedes nothing.
    // An error page for a new version does not replace the old file.
    supersedes =
      response.stored != nil && (response.status == 200 || response.status == 203)
      && response.bodyLocation != .missing && BodyCompleteness(of: response) != .partial
    resource = Resource(version, in: response.partition)
    marker = version.marker.hashValue
  }

  /// Whether it is an entry for the same resource.
  func isVersion(ofSameAs other: Self) -> Bool { resource == other.resource }

  /// Whether it is the same version as another entry for the same resource.
  func isSameVersion(as other: Self) -> Bool { marker == other.marker }

  /// Whether it was stored before another entry; of two that were stored at the same time, the one with the lower id was.
  func isBefore(_ other: Self) -> Bool {
    guard let stored, let otherStored = other.stored else { return false }
    return stored == otherStored ? id < other.id : stored < otherStored
  }

  /// The keys that sort entries by resource, with the newest version first: those that supersede nothing have no time, and come last.
  var scratchKeys: [Scratch.Key] {
    let time = supersedes ? stored.map { Scratch.Key.real($0.secondsSince1970) } : nil
    return [
      .integer(Int64(resource.first)), .integer(Int64(resource.second)), time ?? .none,
      id.scratchKey,
    ]
  }

  /// Which of ``scratchKeys`` are in descending order.
  static let areKeysDescending = [false, false, true, true]

  func pack(into values: inout PackedValues) {
    values.append(id: id)
    values.append(stored) { $0.append(time: $1) }
    values.append(size.bytes)
    values.append(supersedes)
    for hash in [resource.first, resource.second, marker] { values.append(hash) }
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    id = try reader.id()
    stored = try reader.optional { reader throws(PackedReader.Failure) in try reader.time() }
    size = ByteCount(try reader.number())
    supersedes = try reader.flag()
    let first = try reader.number(Int.self)
    resource = Resource(first: first, second: try reader.number(Int.self))
    marker = try reader.number(Int.self)
  }
}
