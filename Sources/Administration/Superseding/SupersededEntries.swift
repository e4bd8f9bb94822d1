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
  /// - Parameter temporaryFolder: The folder for the unnamed files that many versions need.
  /// - Throws: `FileError` if there is no room for them, or the error that the source throws.
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries.
  public init(in source: any ResponseSource, temporaryFolder: String) throws {
    var search = VersionSearch(in: temporaryFolder)
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
