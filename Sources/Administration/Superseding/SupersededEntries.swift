public import Bytes
import ResponseArchives
public import ResponseStorage

/// The entries of a cache that are older versions of a resource that is also stored in a newer version.
///
/// Only entries of the same cache partition are compared. Entries with a status other than 200 or 203, incomplete
/// entries, and entries that `URLCache` does not see supersede nothing.
public struct SupersededEntries: Sendable {
  /// The state of an entry.
  public enum State: Hashable, Sendable {
    /// The newest version, an entry with the same URL as the newest, or no version of anything.
    case current
    /// An older version.
    case superseded
    /// A version with an unknown stored time, so it may or may not be older.
    case unknownTime
  }

  var superseded = EntryIDSet()
  var ofUnknownTime = EntryIDSet()

  /// Creates an empty set.
  init() {}

  /// Finds the superseded entries of a cache.
  ///
  /// - Throws: `FileError` if there is no room for temporary files, or the error that the source throws.
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries.
  public init(in source: any ResponseSource) throws {
    var search = VersionSearch()
    try source.scan(ScanRequest(VersionedEntry.projection, in: .any), into: Tally()) { tally in
      try search.insert(tally.versions)
      tally = Tally()
      return .next
    }
    self = try search.finish()
  }

  /// Returns the state of an entry.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of superseded entries.
  public func state(of response: borrowing StoredResponse) -> State {
    if superseded.contains(response.id) { return .superseded }
    return ofUnknownTime.contains(response.id) ? .unknownTime : .current
  }

  /// The versions of resources among some entries.
  private struct Tally: ResponseTally {
    var versions: [VersionedEntry] = []

    var isFull: Bool { versions.count >= VersionedEntry.mostInTally }

    mutating func insert(_ response: borrowing StoredResponse) {
      if let version = VersionedEntry(response) { versions.append(version) }
    }
  }
}

/// The number of superseded entries of each kind.
public struct SupersededKinds: Hashable, Sendable {
  /// The number of entries, for each kind that has any.
  public private(set) var counts: [ResourceVersion.Kind: Int64] = [:]

  /// Creates empty counts.
  public init() {}

  /// Counts a superseded entry by its URL, or by its key if the URL is unknown.
  public mutating func insert(_ url: ByteString?) {
    guard let kind = url.flatMap({ ResourceVersion(of: $0) })?.kind else { return }
    counts[kind, default: 0] += 1
  }

  /// The counts as a clause; `nil` if there are none.
  public var words: String? {
    let parts = ResourceVersion.Kind.allCases.compactMap { kind in
      counts[kind].map { "\($0) by \(kind.words)" }
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension ResourceVersion.Kind {
  /// The kind of mark, in words.
  fileprivate var words: String {
    switch self {
    case .hash: "a hash in the file name"
    case .number: "a version number in the path"
    case .date: "a date in the file name"
    case .parameter: "a version parameter"
    case .signature: "the signature of the URL"
    }
  }
}

/// A set of ids of entries in little memory: at most 16 bytes for an id, and two bits where ids are dense.
public struct EntryIDSet: Sendable {
  /// 64 consecutive row ids.
  private struct Word {
    /// The first id, divided by 64.
    let place: Int64
    /// A bit for each id, the first id in the lowest one.
    var bits: UInt64
  }

  private var words: [Word] = []
  /// The digests of file names.
  private var names: [TextDigest] = []

  /// Creates an empty set.
  public init() {}

  /// Adds an id. Ids must be added in ascending order, and ``finish()`` called after the last.
  public mutating func append(_ id: StoredResponse.ID) {
    switch id {
    case .row(let row):
      let bit = UInt64(1) << UInt64(truncatingIfNeeded: row & 63)
      if words.last?.place == row >> 6 {
        words[words.count - 1].bits |= bit
      } else {
        words.append(Word(place: row >> 6, bits: bit))
      }
    case .file(let name): names.append(TextDigest(name))
    }
  }

  /// Makes the set ready for lookups.
  public mutating func finish() { names.sort { $0.precedes($1) } }

  /// Whether the set has an id.
  ///
  /// - Complexity: O(log *n*), where *n* is the number of ids.
  public func contains(_ id: StoredResponse.ID) -> Bool {
    switch id {
    case .row(let row):
      let index = words.partitioningIndex { $0.place >= row >> 6 }
      guard index < words.count, words[index].place == row >> 6 else { return false }
      return words[index].bits >> UInt64(truncatingIfNeeded: row & 63) & 1 == 1
    case .file(let name):
      if names.isEmpty { return false }
      let digest = TextDigest(name)
      let index = names.partitioningIndex { !$0.precedes(digest) }
      return index < names.count && names[index] == digest
    }
  }
}

extension Array {
  /// Returns the index of the first element for which a condition holds, in an array in which it holds for all after that.
  func partitioningIndex(where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if holds(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
