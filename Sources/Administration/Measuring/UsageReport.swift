public import Bytes
import HTTPCaching
import ResponseArchives
public import ResponseStorage

/// The size of a cache, in total and by groups.
public struct UsageReport: Hashable, Sendable {
  /// The entries with a common property.
  public struct Group: Hashable, Sendable {
    /// The value of the property; `nil` if unknown.
    public var key: ByteString?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The total size of their bodies.
    public var bytes: ByteCount = 0

    /// Creates a group.
    public init(key: ByteString?, entries: Int64 = 0, bytes: ByteCount = 0) {
      self.key = key
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The entries in none of ``UsageReport/groups``.
  public struct Rest: Hashable, Sendable {
    /// The number of their groups; `nil` if there were too many to count.
    public var groups: Int64?
    /// The number of entries.
    public var entries: Int64 = 0
    /// The total size of their bodies.
    public var bytes: ByteCount = 0

    /// Creates the rest of a report.
    public init(groups: Int64?, entries: Int64 = 0, bytes: ByteCount = 0) {
      self.groups = groups
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The median size of bodies.
  public struct Median: Hashable, Sendable {
    /// The size, in bytes.
    public var bytes: ByteCount
    /// Whether the size is exact; if not, it is off by at most 1 in 2,048.
    public var isExact: Bool

    /// Creates a median.
    public init(bytes: ByteCount, isExact: Bool) {
      self.bytes = bytes
      self.isExact = isExact
    }
  }

  /// The distribution of entries over ranges: a group for each range, in order, followed by the unknown entries if
  /// there are any.
  public struct Histograms: Hashable, Sendable {
    /// The entries by the time since they were stored.
    public var ages: [Group]
    /// The entries by the size of their bodies.
    public var sizes: [Group]

    /// Creates histograms.
    public init(ages: [Group], sizes: [Group]) {
      self.ages = ages
      self.sizes = sizes
    }
  }

  /// The number of entries.
  public var entries: Int64 = 0
  /// The number of entries whose body is missing.
  public var missingBodies: Int64 = 0
  /// The total size of the bodies, in bytes.
  public var bodyBytes: ByteCount = 0
  /// The median size of the existing bodies; `nil` if there are none.
  public var median: Median?
  /// The oldest and newest stored time.
  public var storedTimes: ClosedRange<Timestamp>?
  /// The size on disk, which `URLCache` compares with its capacity.
  public var footprint: Footprint
  /// The space in use, in bytes, which limits are compared with; `nil` for an archive, or if only selected entries were counted. See
  /// ``RemovalPlan/inUse``.
  public var inUseBytes: ByteCount?
  /// The limit to compare the size on disk with, in bytes; a cache does not record its own.
  public var capacityBytes: ByteCount?
  /// The number of bodies larger than 5% of the capacity, which CFNetwork does not store; `nil` if the capacity is
  /// unknown, or if the store is not from CFNetwork.
  ///
  /// Source: `apple-cache.md`, "Capacity".
  public var oversizedBodies: Int64?
  /// The share of the capacity that may be used, in percent.
  public var allowedPercent: Double?
  /// The property that the entries are grouped by.
  public var grouping: Grouping?
  /// The number of entries of each freshness, with unknown freshness as `nil`; empty unless the entries are grouped by
  /// it.
  public var freshness: [ResponseFreshness.State?: Int64] = [:]
  /// The groups with entries: largest first, or ranges in order.
  public var groups: [Group] = []
  /// The entries in none of the groups, if there are any.
  public var rest: Rest?
  /// The entries that are superseded by a newer version; `nil` if not requested.
  public var superseded: CacheReport.Sum?
  /// How many entries were ever stored; `nil` if unknown, or if only selected entries were counted.
  public var churn: CacheChurn?
  /// What lifetimes and validators save; `nil` if not requested.
  public var savings: CacheSavings?
  /// The distribution of the entries, if requested.
  public var histograms: Histograms?

  /// The size on disk as a fraction of the capacity; over 1 if it is exceeded, `nil` if no capacity above zero is
  /// known.
  public var share: Double? {
    guard let capacityBytes, capacityBytes > 0 else { return nil }
    return Double(footprint.totalBytes) / Double(capacityBytes)
  }

  /// Whether more of the capacity is used than allowed.
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
  /// Missing bodies count as 0 bytes. A sum that overflows stays at the maximum: a store can claim any size.
  ///
  /// - Parameters:
  ///   - grouping: The property to group by, or `nil` for no groups.
  ///   - capacityBytes: The limit to compare the size on disk with, if there is one.
  ///   - now: The time that ages are relative to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  ///   - classes: The classes of entries, for grouping by class.
  ///   - selection: The entries to count; `nil` for all. The size on disk is always that of the whole store.
  ///   - withHistograms: Whether to measure ``histograms``.
  ///   - findingSuperseded: Whether to measure ``superseded``.
  ///   - clock: The system time, for the age of files; `nil` for `now`.
  ///   - groupMemory: The maximum memory of the groups, in bytes. Entries of groups over the limit count in ``rest``;
  ///     the groups are then those encountered first, not necessarily the largest.
  /// - Throws: The error that the source throws, or `FileError` if a temporary file cannot be used.
  /// - Complexity: O(*n*), where *n* is the number of entries, in bounded memory; O(*n* log *n*) to find superseded ones.
  public init(
    of source: any ResponseSource, by grouping: Grouping?, capacityBytes: ByteCount?,
    now: Timestamp,
    expiryRules: [UserInfoExpiry.Rule] = UserInfoExpiry.known,
    classes: EntryClasses = EntryClasses(), selection: Selection? = nil,
    withHistograms: Bool = false, findingSuperseded: Bool = false,
    clock: Timestamp? = nil, groupMemory: Int = 64 << 20
  ) throws {
    footprint = try source.footprint()
    self.capacityBytes = capacityBytes
    self.grouping = grouping
    let isWhole = selection?.isEmpty ?? true
    if isWhole {
      inUseBytes = try Self.spaceWithoutEntries(of: source, footprint, at: clock ?? now)
    }
    let empty = UsageTally(
      by: grouping, now: now, expiryRules: expiryRules, classes: classes,
      largestBody: Self.largestBody(of: source, capacityBytes),
      withHistograms: withHistograms, findsVersions: findingSuperseded,
      measuresSpace: inUseBytes != nil, groupMemory: groupMemory)
    var tally = empty
    var search = findingSuperseded ? VersionSearch() : nil
    // On one thread, as a selection can throw when an expression takes too long, and a tally
    // cannot.
    if let selection, !selection.isEmpty {
      try source.scan(tally.projection.union(selection.projection)) { response in
        if try selection.contains(response, now: now) {
          tally.insert(response)
          try search?.insert(tally.removeVersions())
        }
        return .next
      }
    } else {
      tally = try .all(of: source, startingWith: empty, findingVersions: &search)
    }
    // A tally cannot throw while threads fill it, so it keeps the error until here.
    if let overrun = tally.overrun { throw overrun }
    tally.write(to: &self)
    if isWhole {
      churn = try CacheChurn(of: source, tally.ids, bodyBytes: bodyBytes)
    }
    superseded = try search?.sum()
  }

  /// Returns the part of the space in use that no entry takes, in bytes: tables, indexes and orphans that are not young; `nil` for an
  /// archive.
  static func spaceWithoutEntries(
    of source: any ResponseSource, _ footprint: Footprint, at clock: Timestamp
  ) throws -> ByteCount? {
    guard source.description.traits.isCache else { return nil }
    guard source.description.traits.countsOrphans else { return footprint.emptyBytes }
    return footprint.emptyBytes + (try source.orphans(at: clock).bytes)
  }

  /// Returns the largest body that a store of this capacity accepts, in bytes; `nil` if unknown, or if there is no such
  /// limit.
  static func largestBody(of source: any ResponseSource, _ capacityBytes: ByteCount?) -> ByteCount?
  {
    guard source.description.traits.isCache else { return nil }
    let rules = CachePlatform(writing: source.description.format).rules
    return capacityBytes.flatMap { rules.largestBody(of: $0) }
  }

  /// Keeps only the first groups, and moves the entries of the others to ``rest``.
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

extension UsageReport {
  /// Adds the entries and groups of another cache with the same grouping, which must not be by ranges.
  ///
  /// The size on disk, the median, the histograms and the churn are those of one cache, and stay as they are.
  public mutating func add(_ other: UsageReport) {
    entries += other.entries
    bodyBytes += other.bodyBytes
    var sums: [ByteString?: Group] = [:]
    for group in groups + other.groups {
      var sum = sums[group.key] ?? Group(key: group.key)
      sum.entries += group.entries
      sum.bytes += group.bytes
      sums[group.key] = sum
    }
    groups = sums.values.sorted(by: Group.isLarger)
    guard let added = other.rest else { return }
    var sum = rest ?? Rest(groups: 0)
    // The same group may be in the rest of both, so their number is not known.
    sum.groups = nil
    sum.entries += added.entries
    sum.bytes += added.bytes
    rest = sum
  }
}

extension UsageReport.Group {
  /// Whether a group comes before another one in the order of sizes.
  static func isLarger(_ first: Self, _ second: Self) -> Bool {
    // Down to the key, as threads deliver groups in any order, and two reports of a cache must be
    // equal.
    if first.bytes != second.bytes { return first.bytes > second.bytes }
    if first.entries != second.entries { return first.entries > second.entries }
    return (first.key?.bytes ?? []).lexicographicallyPrecedes(second.key?.bytes ?? [])
  }
}

extension UsageReport {
  /// A property to group entries by.
  public enum Grouping: String, Hashable, Sendable, CaseIterable {
    case host, mime, status, method, scheme, partition
    case storagePolicy = "storage-policy"
    /// The validators of the entries.
    case validator
    /// The known directives of `Cache-Control`; an entry counts in the group of each of its directives.
    case directive
    /// The freshness: ``ResponseFreshness/State``.
    case freshness
    /// The class: ``EntryClasses``.
    case entryClass = "class"
    /// The time since the entries were stored, in ranges.
    case age
    /// The size of the bodies, in ranges.
    case size

    /// Whether the groups are ranges, which are shown in order; other groups are sorted by size.
    public var hasRanges: Bool { self == .age || self == .size }
  }
}

extension UsageReport.Grouping {
  /// The fields needed to find the group of a response.
  var projection: Projection {
    switch self {
    case .host, .scheme: .url
    case .mime: .mimeType
    case .status: .status
    case .method: .method
    case .partition, .storagePolicy: .storage
    case .freshness, .validator: ResponseFreshness.projection
    case .directive: .responseHeaders
    case .age: .stored
    case .size: .body
    case .entryClass: []
    }
  }

  /// Returns the key of the group of a response; `nil` if unknown, or if the groups are ranges.
  ///
  /// - Parameters:
  ///   - now: The time at which a response is fresh or stale.
  ///   - rules: The expiry rules of the app, which affect freshness.
  func key(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> ByteString? {
    switch self {
    case .host: response.url.flatMap { CanonicalURL.host(of: $0) }
    // Media types are case-insensitive (RFC 9110 §8.3.1), and servers write both.
    case .mime: response.mimeType?.asciiLowercased
    case .status: response.status.map { ByteString(String($0)) }
    // Methods are case-sensitive (RFC 9110 §9.1), so they stay as they are.
    case .method: response.request.method
    case .scheme: response.url.flatMap { CanonicalURL.scheme(of: $0) }
    case .partition: response.partition
    case .storagePolicy: response.storagePolicy.map { ByteString($0.name) }
    case .freshness:
      ResponseFreshness(of: response, at: now, rules: rules).map {
        ByteString($0.state.rawValue)
      }
    case .validator:
      ResponseFreshness(of: response, at: now, rules: rules).map { ByteString($0.validators) }
    case .age, .size, .directive, .entryClass: nil
    }
  }
}

extension UsageReport.Grouping {
  /// Returns the directives in the `Cache-Control` of a response, without duplicates; `none` if there is no known
  /// directive, and `nil` if the header fields are unknown.
  static func directives(of response: borrowing StoredResponse) -> [ByteString?] {
    guard let headers = response.responseHeaders else { return [nil] }
    var names: [CacheDirective.Name] = []
    for directive in CacheControl(FieldSection(headers)).directives
    // If a directive is repeated, only the first one applies (RFC 9111 §4.2.1), and it is one
    // entry.
    where !names.contains(directive.name) {
      names.append(directive.name)
    }
    return names.isEmpty ? ["none"] : names.map { ByteString($0.rawValue) }
  }
}

extension ResponseFreshness {
  /// The kinds of validators of a response, in words.
  fileprivate var validators: String {
    let tag = entityTag.map { $0 == .strong ? "strong etag" : "weak etag" }
    let parts = [tag, lastModified == nil ? nil : "last-modified"].compactMap { $0 }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
