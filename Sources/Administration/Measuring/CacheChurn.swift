public import Bytes
import ResponseStorage

/// How many entries a cache has ever stored, and how quickly they are replaced by others.
///
/// An Apple cache counts its entries, but does not record when. So rates are estimates from the entries that it has kept.
public struct CacheChurn: Hashable, Sendable {
  /// Estimates from the oldest and the newest of the kept entries.
  public struct Rate: Hashable, Sendable {
    /// When these two entries were first stored.
    public var times: ClosedRange<Timestamp>
    /// The number of entries stored a day between the two.
    public var entriesPerDay: Double
    /// The bytes stored a day in bodies, if removed bodies were as large as those that were kept.
    public var bytesPerDay: ByteCount
    /// How long an entry is kept on average, in seconds; `nil` if none has been removed.
    public var lifetimeSeconds: Int64?

    /// Creates estimates.
    public init(
      times: ClosedRange<Timestamp>, entriesPerDay: Double, bytesPerDay: ByteCount,
      lifetimeSeconds: Int64?
    ) {
      (self.times, self.entriesPerDay) = (times, entriesPerDay)
      (self.bytesPerDay, self.lifetimeSeconds) = (bytesPerDay, lifetimeSeconds)
    }
  }

  /// The number of entries ever stored. One that was stored again under its id counts once.
  public var stored: Int64
  /// The number of these entries that are still there.
  public var kept: Int64
  /// The estimates; `nil` if the kept entries do not show enough.
  public var rate: Rate?

  /// The number of entries that were removed.
  public var removed: Int64 { stored - kept }

  /// Creates a churn.
  public init(stored: Int64, kept: Int64, rate: Rate? = nil) {
    (self.stored, self.kept, self.rate) = (stored, kept, rate)
  }

  /// The largest number that can be a count: at a million entries a second, more would take centuries.
  private static let mostStored: Int64 = 1 << 53

  /// The least time between two entries for an estimate, in seconds. An app stores many entries when it starts, and none
  /// while it is not used.
  private static let leastSpan: Int64 = 86_400

  /// Measures a cache whose entries were counted.
  ///
  /// - Parameter bodyBytes: The total size of the bodies of the kept entries.
  /// - Returns: `nil` if the cache does not count its entries, or if its counter is wrong.
  /// - Throws: The error that the source throws.
  init?(of source: any ResponseSource, _ ids: RowIDTally, bodyBytes: ByteCount) throws {
    guard let stored = try Self.counter(of: source), stored <= Self.mostStored else { return nil }
    // The counter is a number in the cache, which can be any. SQLite never gives an id that is larger or less than 1.
    if let range = ids.range, range.lowerBound < 1 || range.upperBound > stored { return nil }
    guard ids.count <= stored else { return nil }
    self.init(stored: stored, kept: ids.count)
    rate = try rate(of: ids, bodyBytes: bodyBytes, in: source)
  }

  private static func counter(of source: any ResponseSource) throws -> Int64? {
    do { return try source.entriesEverStored() } catch let error as StoreError
      where error.code == .damaged
    {
      // The entries could be read, so they can be shown without it.
      return nil
    }
  }

  private func rate(
    of ids: RowIDTally, bodyBytes: ByteCount, in source: any ResponseSource
  ) throws -> Rate? {
    guard let range = ids.range, range.lowerBound < range.upperBound,
      let first = try source.response(.row(range.lowerBound), .firstStored)?.firstStored,
      let last = try source.response(.row(range.upperBound), .firstStored)?.firstStored,
      first < last
    else { return nil }
    let seconds = last.wholeSeconds - first.wholeSeconds
    guard seconds >= Self.leastSpan else { return nil }
    let perSecond = Double(range.upperBound - range.lowerBound) / Double(seconds)
    let bytes = perSecond * 86_400 * Double(bodyBytes) / Double(ids.count)
    // What is kept is what was stored during one lifetime. Ids are distinct, so this is at most twice the time.
    let lifetime = Double(ids.count) / perSecond
    return Rate(
      times: first...last, entriesPerDay: perSecond * 86_400,
      // A larger number would trap in the conversion.
      bytesPerDay: ByteCount(Int64(min(bytes, 9e18))),
      lifetimeSeconds: removed > 0 ? Int64(min(lifetime, 9e18)) : nil)
  }
}

/// The number and the range of the ids of entries that `URLCache` sees.
struct RowIDTally: Hashable, Sendable {
  private(set) var count: Int64 = 0
  private(set) var range: ClosedRange<Int64>?

  /// Counts an entry.
  mutating func insert(_ response: borrowing StoredResponse) {
    guard case .row(let id) = response.id else { return }
    count += 1
    extend(to: id...id)
  }

  /// Adds another tally.
  mutating func insert(_ other: Self) {
    count += other.count
    if let range = other.range { extend(to: range) }
  }

  private mutating func extend(to other: ClosedRange<Int64>) {
    let all = range ?? other
    range = min(all.lowerBound, other.lowerBound)...max(all.upperBound, other.upperBound)
  }
}
