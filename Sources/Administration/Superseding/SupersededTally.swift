import Bytes
import ResponseStorage

/// The superseded entries of a cache, added up.
struct SupersededTally: ResponseTally {
  private let entries: SupersededEntries
  private(set) var sum = CacheReport.Sum()

  private init(_ entries: SupersededEntries) {
    self.entries = entries
  }

  /// Adds up the superseded entries; reads the cache again only if there may be any.
  ///
  /// - Parameter entries: The result of a first pass over all entries.
  /// - Throws: The error that the source throws.
  static func sum(
    of entries: SupersededEntries, in source: any ResponseSource
  ) throws -> CacheReport.Sum {
    var sum = CacheReport.Sum()
    // Most caches have no versions at all, and a second reading takes as long as the first.
    guard entries.mayHaveAny else { return sum }
    let empty = Self(entries)
    let request = ScanRequest(SupersededEntries.stateProjection.union(.body), in: .any)
    try source.scan(request, into: empty) { tally in
      sum = sum.adding(tally.sum)
      tally = empty
      return .next
    }
    return sum
  }

  mutating func insert(_ response: borrowing StoredResponse) {
    guard case .superseded = entries.state(of: response) else { return }
    sum.insert(response.bodySize ?? 0)
  }
}
