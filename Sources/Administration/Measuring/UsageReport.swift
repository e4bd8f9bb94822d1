public import Bytes
public import ResponseStorage

/// What a cache takes up, in all and by groups.
public struct UsageReport: Hashable, Sendable {
  /// The entries that have something in common.
  public struct Group: Hashable, Sendable {
    /// What they have in common; `nil` if it is not known.
    public var key: ByteString?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sum of the sizes of their bodies.
    public var bytes: ByteCount = 0

    /// Creates a group.
    public init(key: ByteString?, entries: Int64 = 0, bytes: ByteCount = 0) {
      self.key = key
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The entries that are in none of ``UsageReport/groups``.
  public struct Rest: Hashable, Sendable {
    /// The number of their groups; `nil` if they were too many to be told apart.
    public var groups: Int64?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sum of the sizes of their bodies.
    public var bytes: ByteCount = 0

    /// Creates a rest.
    public init(groups: Int64?, entries: Int64 = 0, bytes: ByteCount = 0) {
      self.groups = groups
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The size of the body in the middle.
  public struct Median: Hashable, Sendable {
    /// The size, in bytes.
    public var bytes: ByteCount
    /// Whether this is the very size of a body, and not off by up to 1 in 2,048.
    public var isExact: Bool

    /// Creates a median.
    public init(bytes: ByteCount, isExact: Bool) {
      self.bytes = bytes
      self.isExact = isExact
    }
  }

  /// How entries are spread over ranges, which all have a group, in their order; after them there is one
  /// for what is not known if there is any.
  public struct Histograms: Hashable, Sendable {
    /// The entries by how long ago they were stored.
    public var ages: [Group]
    /// The entries by the sizes of their bodies.
    public var sizes: [Group]

    /// Creates histograms.
    public init(ages: [Group], sizes: [Group]) {
      self.ages = ages
      self.sizes = sizes
    }
  }

  /// The smallest capacity with which CFNetwork keeps a cache on disk, in bytes.
  ///
  /// Source: `formats.md`, "Capacity".
  public static let smallestCapacity = ByteCount(5 << 20)

  /// The number of entries.
  public var entries: Int64 = 0
  /// The number of entries whose body is missing.
  public var missingBodies: Int64 = 0
  /// The sum of the sizes of the bodies, in bytes.
  public var bodyBytes: ByteCount = 0
  /// The median of the sizes of the bodies that are there; `nil` if there are none.
  public var median: Median?
  /// The oldest and the newest time at which an entry was stored.
  public var storedTimes: ClosedRange<Timestamp>?
  /// What the files take up.
  public var footprint: Footprint
  /// The limit that the footprint is held against, in bytes; a cache does not hold its own.
  public var capacityBytes: ByteCount?
  /// The number of bodies that are larger than 5 % of the capacity, which CFNetwork does not store;
  /// `nil` if no capacity is known, or if it is not a store of CFNetwork.
  ///
  /// Source: `formats.md`, "Capacity".
  public var oversizedBodies: Int64?
  /// How much of the capacity may be used, in percent.
  public var allowedPercent: Double?
  /// What the entries are grouped by.
  public var grouping: Grouping?
  /// The number of entries of each freshness, and under `nil` of those of which it is not known; empty
  /// unless they are grouped by it.
  public var freshness: [ResponseFreshness.State?: Int64] = [:]
  /// The groups that have entries: the largest first, or ranges in their order.
  public var groups: [Group] = []
  /// What is in none of the groups, if there are groups and anything is.
  public var rest: Rest?
  /// The entries that are older versions of files of which a newer one is stored; `nil` if that was not asked for.
  public var superseded: CacheReport.Sum?
  /// What lifetimes and validators save; `nil` if that was not asked for.
  public var savings: CacheSavings?
  /// How entries are spread, if that was asked for.
  public var histograms: Histograms?

  /// The part of the capacity that the files take up, 1 being all of it and more than 1 too much;
  /// `nil` if no capacity above zero is known.
  public var share: Double? {
    guard let capacityBytes, capacityBytes > 0 else { return nil }
    return Double(footprint.totalBytes) / Double(capacityBytes)
  }

  /// Whether more of the capacity is used than is allowed.
  public var exceedsLimit: Bool {
    guard let share, let allowedPercent else { return false }
    return share * 100 > allowedPercent
  }

  /// Creates a report of a cache without entries.
  public init(footprint: Footprint) {
    self.footprint = footprint
  }

  /// Measures a cache.
  ///
  /// Bodies that are missing count as entries of no bytes. A sum that is too large stays at the
  /// largest number: a store can claim any size.
  ///
  /// - Parameters:
  ///   - grouping: What to group by, or `nil` for no groups.
  ///   - capacityBytes: The limit to hold the footprint against, if there is one.
  ///   - now: The moment that ages are counted to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiries of an application's own, which count for whether entries are fresh.
  ///   - classes: What entries are kept for, if they are grouped by that.
  ///   - selection: Which entries to count; `nil` for all. The footprint is that of the whole store in
  ///     any case.
  ///   - withHistograms: Whether to measure ``histograms``.
  ///   - findsSuperseded: Whether to add up ``superseded``, which takes another look at a cache that may have any.
  ///   - groupMemory: What the groups may take up in memory, in bytes. Entries of groups for which
  ///     there is no room are in ``rest``; the groups are then those that were met first, and no
  ///     longer the largest ones for certain.
  /// - Throws: What the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory.
  public init(
    of source: any ResponseSource, by grouping: Grouping?, capacityBytes: ByteCount?,
    now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known,
    classes: EntryClasses = EntryClasses(), selection: Selection? = nil,
    withHistograms: Bool = false, findsSuperseded: Bool = false, groupMemory: Int = 64 << 20
  ) throws {
    footprint = try source.footprint()
    self.capacityBytes = capacityBytes
    self.grouping = grouping
    let empty = UsageTally(
      by: grouping, now: now, expiryRules: expiryRules, classes: classes,
      largestBody: Self.largestBody(of: source, capacityBytes),
      withHistograms: withHistograms, findsVersions: findsSuperseded, groupMemory: groupMemory)
    var tally = empty
    if let selection, !selection.isEmpty {
      try source.scan(tally.projection.union(selection.projection)) { response in
        if try selection.contains(response, now: now) { tally.insert(response) }
        return .next
      }
    } else {
      tally = try .all(of: source, startingWith: empty)
    }
    if let overrun = tally.overrun { throw overrun }
    tally.write(to: &self)
    if findsSuperseded {
      superseded = try SupersededTally.sum(of: tally.versions, in: source)
    }
  }

  /// The largest body that a store of some capacity takes, in bytes; `nil` if that is not known, or if
  /// the whole capacity is there for one.
  private static func largestBody(
    of source: any ResponseSource, _ capacityBytes: ByteCount?
  ) -> ByteCount? {
    source.description.format == .apple ? capacityBytes.map { $0 / 20 } : nil
  }

  /// Leaves only the first groups; what the others hold goes to ``rest``.
  public mutating func cutGroups(to count: Int) {
    guard groups.count > count else { return }
    let cut = groups[count...]
    var rest = rest ?? Rest(groups: 0)
    rest.groups = rest.groups.map { $0 + Int64(cut.count) }
    for group in cut {
      rest.entries += group.entries
      rest.bytes += group.bytes
    }
    groups.removeSubrange(count...)
    self.rest = rest
  }
}
