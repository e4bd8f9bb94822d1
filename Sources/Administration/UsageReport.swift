public import ResponseStorage

/// What a cache takes up, in all and by groups.
public struct UsageReport: Hashable, Sendable {
  /// What entries are grouped by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method
  }

  /// The entries that have something in common.
  public struct Group: Hashable, Sendable {
    /// What they have in common; `nil` if it is not known.
    public var key: ByteString?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The sum of the sizes of their bodies.
    public var bytes: Int64 = 0

    /// Creates a group.
    public init(key: ByteString?, entries: Int64 = 0, bytes: Int64 = 0) {
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
    public var bytes: Int64 = 0

    /// Creates a rest.
    public init(groups: Int64?, entries: Int64 = 0, bytes: Int64 = 0) {
      self.groups = groups
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The size of the body in the middle.
  public struct Median: Hashable, Sendable {
    /// The size, in bytes.
    public var bytes: Int64
    /// Whether this is the very size of a body, and not off by up to 1 in 2,048.
    public var isExact: Bool

    /// Creates a median.
    public init(bytes: Int64, isExact: Bool) {
      self.bytes = bytes
      self.isExact = isExact
    }
  }

  /// The number of entries.
  public var entries: Int64 = 0
  /// The number of entries whose body is missing.
  public var missingBodies: Int64 = 0
  /// The sum of the sizes of the bodies, in bytes.
  public var bodyBytes: Int64 = 0
  /// The median of the sizes of the bodies that are there; `nil` if there are none.
  public var median: Median?
  /// The oldest and the newest time at which an entry was stored.
  public var storedTimes: ClosedRange<Timestamp>?
  /// What the files take up.
  public var footprint: Footprint
  /// The limit that the footprint is held against, in bytes; a cache does not hold its own.
  public var capacityBytes: Int64?
  /// How much of the capacity may be used, in percent.
  public var allowedPercent: Double?
  /// What the entries are grouped by.
  public var grouping: Grouping?
  /// The groups, the largest first.
  public var groups: [Group] = []
  /// What is in none of the groups, if there are groups and anything is.
  public var rest: Rest?

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
  ///   - selection: Which entries to count, and the moment that ``Selection/contains(_:now:)`` takes;
  ///     `nil` for all. The footprint is that of the whole store in any case.
  ///   - groupMemory: What the groups may take up in memory, in bytes. Entries of groups for which
  ///     there is no room are in ``rest``; the groups are then those that were met first, and no
  ///     longer the largest ones for certain.
  /// - Throws: What the source throws.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory.
  public init(
    of source: any ResponseSource, by grouping: Grouping?, capacityBytes: Int64?,
    selection: (criteria: Selection, now: Timestamp)? = nil, groupMemory: Int = 64 << 20
  ) throws {
    footprint = try source.footprint()
    self.capacityBytes = capacityBytes
    self.grouping = grouping
    var sizes = MedianSize()
    var tally = GroupTally(memoryLimit: groupMemory)
    let projection = Self.projection(for: grouping)
      .union(selection?.criteria.projection ?? [])
    var (entries, missing, bodyBytes) = (Int64(0), Int64(0), Int64(0))
    var times: ClosedRange<Timestamp>?
    try source.forEachResponse(projection) { response in
      if let selection, !selection.criteria.contains(response, now: selection.now) { return .next }
      entries += 1
      if response.bodyLocation == .missing { missing += 1 }
      if let size = response.bodySize { sizes.insert(size) }
      let size = response.bodySize ?? 0
      bodyBytes = bodyBytes.addingClamped(size)
      if let time = response.stored {
        let range = times ?? time...time
        times = min(range.lowerBound, time)...max(range.upperBound, time)
      }
      if let grouping { tally.insert(Self.key(of: response, by: grouping), size: size) }
      return .next
    }
    (self.entries, missingBodies, self.bodyBytes) = (entries, missing, bodyBytes)
    (median, storedTimes) = (sizes.median, times)
    (groups, rest) = tally.finished()
  }

  /// Leaves only the first groups; what the others hold goes to ``rest``.
  public mutating func cutGroups(to count: Int) {
    guard groups.count > count else { return }
    let cut = groups[count...]
    var rest = rest ?? Rest(groups: 0)
    rest.groups = rest.groups.map { $0 + Int64(cut.count) }
    for group in cut {
      rest.entries += group.entries
      rest.bytes = rest.bytes.addingClamped(group.bytes)
    }
    groups.removeSubrange(count...)
    self.rest = rest
  }

  private static func projection(for grouping: Grouping?) -> Projection {
    switch grouping {
    case .host: [.body, .stored, .url]
    case .mime: [.body, .stored, .mimeType]
    case .status: [.body, .stored, .status]
    case .method: [.body, .stored, .method]
    case nil: [.body, .stored]
    }
  }

  private static func key(of response: borrowing StoredResponse, by grouping: Grouping)
    -> ByteString?
  {
    switch grouping {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    case .method: response.request.method
    }
  }
}
