import Bytes
import ResponseStorage

/// The superseded entries of a cache, added up.
struct SupersededTally: ResponsePortion {
  private let entries: SupersededEntries
  private(set) var sum = CacheReport.Sum()

  private init(_ entries: SupersededEntries) {
    self.entries = entries
  }

  /// Adds up what is superseded, with another look at the cache if anything may be.
  ///
  /// - Parameter entries: What a first look at all entries has noted.
  /// - Throws: What the source throws.
  static func sum(
    of entries: SupersededEntries, in source: any ResponseSource
  ) throws -> CacheReport.Sum {
    var sum = CacheReport.Sum()
    guard entries.mayHaveAny else { return sum }
    let empty = Self(entries)
    try source.forEachPortion(
      SupersededEntries.stateProjection.union(.body), startingWith: empty, in: .any
    ) { portion in
      sum = sum.adding(portion.sum)
      portion = empty
      return .next
    }
    return sum
  }

  var isFull: Bool { false }

  mutating func take(_ response: inout StoredResponse) {
    guard case .superseded = entries.state(of: response) else { return }
    sum.insert(response.bodySize ?? 0)
  }
}
