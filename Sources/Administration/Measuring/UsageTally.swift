import Bytes
import Matching
import ResponseStorage

/// Entries added up in bounded memory.
struct UsageTally: ResponseTally {
  private let grouping: UsageReport.Grouping?
  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private let classes: EntryClasses
  private let largestBody: ByteCount?
  private let withHistograms: Bool
  private let findsVersions: Bool
  private let measuresSpace: Bool

  private var entries: Int64 = 0
  private var missingBodies: Int64 = 0
  private var oversizedBodies: Int64 = 0
  private var bodyBytes: ByteCount = 0
  private var space = SpaceInUse()
  private var median = MedianSize()
  private var storedTimes: ClosedRange<Timestamp>?
  private var groups: GroupTally
  /// The ids of the entries.
  private(set) var ids = RowIDTally()
  private var ages = RangeTally(.ages)
  private var sizes = RangeTally(.sizes)
  /// The expression of a rule that took too long; later entries have no class.
  private(set) var overrun: RegularExpression.Overrun?
  /// The versions of resources among the entries, if requested.
  private var versions: [VersionedEntry] = []

  /// Creates an empty tally.
  ///
  /// - Parameters:
  ///   - grouping: The property to group by, or `nil` for no groups.
  ///   - now: The time that ages are relative to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiry rules of the app.
  ///   - classes: The classes of entries, for grouping by class.
  ///   - largestBody: The size in bytes above which a body counts as too large; `nil` if there is no limit.
  ///   - withHistograms: Whether to count entries by age and size.
  ///   - findsVersions: Whether to collect versions of resources for ``removeVersions()``.
  ///   - measuresSpace: Whether to add up the space in use.
  ///   - groupMemory: The maximum memory of the groups, in bytes.
  init(
    by grouping: UsageReport.Grouping?, now: Timestamp, expiryRules: [UserInfoExpiry.Rule],
    classes: EntryClasses = EntryClasses(), largestBody: ByteCount?, withHistograms: Bool,
    findsVersions: Bool, measuresSpace: Bool, groupMemory: Int
  ) {
    self.grouping = grouping
    self.now = now
    self.expiryRules = expiryRules
    self.classes = classes
    self.largestBody = largestBody
    self.withHistograms = withHistograms
    self.findsVersions = findsVersions
    self.measuresSpace = measuresSpace
    groups = GroupTally(memoryLimit: groupMemory)
  }

  /// The fields to decode of the entries.
  var projection: Projection {
    let always: Projection = [.body, .stored]
    return always.union(grouping?.projection ?? [])
      .union(grouping == .entryClass ? classes.projection : [])
      .union(findsVersions ? VersionedEntry.projection : [])
      .union(measuresSpace ? .share : [])
  }

  /// Adds up all entries of a source.
  ///
  /// - Parameter search: Receives the versions of resources.
  static func all(
    of source: any ResponseSource, startingWith empty: Self,
    findingVersions search: inout VersionSearch?
  ) throws -> Self {
    var all = empty
    try source.scan(ScanRequest(empty.projection, in: .any), into: empty) { tally in
      try search?.insert(tally.removeVersions())
      all.insert(tally)
      tally = empty
      return .next
    }
    return all
  }

  var isFull: Bool { versions.count >= VersionedEntry.mostInTally }

  /// Adds another tally with the same parameters.
  mutating func insert(_ other: UsageTally) {
    entries += other.entries
    missingBodies += other.missingBodies
    oversizedBodies += other.oversizedBodies
    bodyBytes += other.bodyBytes
    space.insert(other.space)
    median.insert(other.median)
    if let times = other.storedTimes { insert(times) }
    groups.insert(other.groups)
    ids.insert(other.ids)
    ages.insert(other.ages)
    sizes.insert(other.sizes)
    overrun = overrun ?? other.overrun
    versions += other.versions
  }

  /// Removes and returns the versions of resources, so that memory does not grow with their number.
  mutating func removeVersions() -> [VersionedEntry] {
    defer { versions = [] }
    return versions
  }

  private mutating func insert(_ times: ClosedRange<Timestamp>) {
    let range = storedTimes ?? times
    storedTimes =
      min(range.lowerBound, times.lowerBound)...max(range.upperBound, times.upperBound)
  }

  /// Counts an entry.
  mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    ids.insert(response)
    if response.bodyLocation == .missing { missingBodies += 1 }
    // A missing body has no size. Counted as 0 bytes, it would lower the median.
    if let size = response.bodySize { median.insert(size) }
    let size = response.bodySize ?? 0
    bodyBytes += size
    if measuresSpace, response.decoded.contains(.share), let share = response.share {
      space.insert(share)
    }
    if let largestBody, size > largestBody { oversizedBodies += 1 }
    if let time = response.stored { insert(time...time) }
    if findsVersions, let version = VersionedEntry(response) { versions.append(version) }
    insert(response, size: size)
  }

  /// Counts an entry in its group, and in the histograms.
  private mutating func insert(_ response: borrowing StoredResponse, size: ByteCount) {
    if withHistograms || grouping == .age {
      ages.insert(response.stored.map { now.wholeSeconds - $0.wholeSeconds }, size: size)
    }
    if withHistograms || grouping == .size { sizes.insert(response.bodySize?.bytes, size: size) }
    if grouping == .directive {
      for key in UsageReport.Grouping.directives(of: response) { groups.insert(key, size: size) }
    } else if grouping == .entryClass {
      insertByClass(response, size: size)
    } else if let grouping, !grouping.hasRanges {
      groups.insert(grouping.key(of: response, at: now, rules: expiryRules), size: size)
    }
  }

  private mutating func insertByClass(_ response: borrowing StoredResponse, size: ByteCount) {
    guard overrun == nil else { return }
    do throws(RegularExpression.Overrun) {
      groups.insert(ByteString(try classes.name(of: response)), size: size)
    } catch {
      overrun = error
    }
  }

  /// Writes the results to a report.
  func write(to report: inout UsageReport) {
    report.entries = entries
    report.missingBodies = missingBodies
    report.oversizedBodies = largestBody.map { _ in oversizedBodies }
    report.bodyBytes = bodyBytes
    report.inUseBytes? += space.bytes
    report.median = median.median
    report.storedTimes = storedTimes
    switch grouping {
    case .age: report.groups = ages.groups.filter { $0.entries > 0 }
    case .size: report.groups = sizes.groups.filter { $0.entries > 0 }
    default: (report.groups, report.rest) = groups.finished()
    }
    if grouping == .freshness {
      for group in report.groups {
        let state = group.key?.string.flatMap { ResponseFreshness.State(rawValue: $0) }
        report.freshness[state, default: 0] += group.entries
      }
    }
    if withHistograms {
      report.histograms = UsageReport.Histograms(ages: ages.groups, sizes: sizes.groups)
    }
  }
}

/// Entries counted by the size of their bodies, in four classes for each power of two.
struct SizeTally {
  private static let classesOfPower = 4

  private var sums = Array(repeating: CacheReport.Sum(), count: 64 * classesOfPower)

  /// Counts an entry that has its body.
  mutating func insert(_ size: ByteCount) {
    // A damaged store can claim a negative size, which has no class.
    sums[Self.place(of: max(size, 0))].insert(size)
  }

  /// Adds another tally.
  mutating func insert(_ other: SizeTally) {
    for place in sums.indices { sums[place] = sums[place].adding(other.sums[place]) }
  }

  /// The classes that have entries, in ascending order.
  var groups: [CacheReport.SizeGroup] {
    sums.enumerated().filter { $0.element.entries > 0 }.map { place, sum in
      CacheReport.SizeGroup(largest: Self.largest(at: place), sum: sum)
    }
  }

  /// Returns the class of a size, by its highest bit and the next two.
  private static func place(of size: ByteCount) -> Int {
    let size = size.bytes
    guard size >= 4 else { return Int(size) }
    let power = 63 - size.leadingZeroBitCount
    return power * classesOfPower + Int(size >> Int64(power - 2) & 3)
  }

  /// Returns the largest size of a class.
  private static func largest(at place: Int) -> ByteCount {
    let (power, step) = place.quotientAndRemainder(dividingBy: classesOfPower)
    guard power >= 2 else { return ByteCount(place) }
    let first = Int64(4 + step) << Int64(power - 2)
    return ByteCount(first + (Int64(1) << Int64(power - 2) - 1))
  }
}

/// Entries counted by a common key, in bounded memory.
struct GroupTally {
  /// The memory of a group besides its key, in bytes: about that of its array and dictionary slots.
  private static let groupCost = 128

  private var places: [ByteString?: Int] = [:]
  private var groups: [UsageReport.Group] = []
  private var rest = UsageReport.Rest(groups: nil)
  private var memoryLeft: Int

  /// Creates an empty tally.
  ///
  /// - Parameter memoryLimit: The maximum memory of the groups, in bytes. Entries of groups over the limit are only
  ///   counted.
  init(memoryLimit: Int) {
    memoryLeft = memoryLimit
  }

  /// Counts an entry.
  mutating func insert(_ key: ByteString?, size: ByteCount) {
    insert(UsageReport.Group(key: key, entries: 1, bytes: size))
  }

  /// Adds another tally.
  mutating func insert(_ other: GroupTally) {
    for group in other.groups { insert(group) }
    // Sums stay exact beyond the limit. Only the names are lost.
    insertIntoRest(other.rest.entries, other.rest.bytes)
  }

  private mutating func insert(_ group: UsageReport.Group) {
    guard let place = place(of: group.key) else {
      return insertIntoRest(group.entries, group.bytes)
    }
    groups[place].insert(group)
  }

  private mutating func insertIntoRest(_ entries: Int64, _ bytes: ByteCount) {
    rest.entries += entries
    rest.bytes += bytes
  }

  /// Returns the groups, largest first, and the entries that did not fit.
  func finished() -> (groups: [UsageReport.Group], rest: UsageReport.Rest?) {
    return (groups.sorted(by: UsageReport.Group.isLarger), rest.entries > 0 ? rest : nil)
  }

  private mutating func place(of key: ByteString?) -> Int? {
    if let place = places[key] { return place }
    let cost = Self.groupCost + (key?.bytes.count ?? 0)
    // Servers can make up any number of hosts, media types and methods.
    guard cost <= memoryLeft else { return nil }
    memoryLeft -= cost
    places[key] = groups.count
    groups.append(UsageReport.Group(key: key))
    return groups.count - 1
  }
}

/// Named ranges that together cover every number.
struct NamedRanges {
  /// The names, in the order of the ranges.
  let names: [ByteString]

  /// The lower bounds of the ranges except the first, which has none.
  private let starts: [Int64]

  private init(_ first: ByteString, _ others: [(Int64, ByteString)]) {
    names = [first] + others.map(\.1)
    starts = others.map(\.0)
  }

  /// Returns the index of the range that contains a number.
  func place(of number: Int64) -> Int {
    // A linear search, since there are about a dozen ranges.
    (starts.lastIndex { $0 <= number } ?? -1) + 1
  }

  /// Ages in seconds; an entry stored in the future has a negative age.
  static let ages = NamedRanges(
    "in the future",
    [
      (0, "under 1 h"), (3_600, "1-6 h"), (21_600, "6-24 h"), (86_400, "1-3 d"),
      (3 * 86_400, "3-7 d"), (7 * 86_400, "1-2 w"), (14 * 86_400, "2-4 w"),
      (28 * 86_400, "1-3 mo"), (91 * 86_400, "3-6 mo"), (182 * 86_400, "6-12 mo"),
      (365 * 86_400, "1 y or more"),
    ])

  /// Sizes in bytes. CFNetwork stores bodies in files from 4 KiB or 16 KiB on, depending on the schema.
  static let sizes = NamedRanges(
    "0 B",
    [
      (1, "under 1 KiB"), (1 << 10, "1-4 KiB"), (4 << 10, "4-16 KiB"), (16 << 10, "16-64 KiB"),
      (64 << 10, "64-256 KiB"), (256 << 10, "256 KiB-1 MiB"), (1 << 20, "1-4 MiB"),
      (4 << 20, "4-16 MiB"), (16 << 20, "16-64 MiB"), (64 << 20, "64 MiB or more"),
    ])
}

/// Entries counted by ranges of a number.
struct RangeTally {
  private let ranges: NamedRanges
  private var unknown = UsageReport.Group(key: nil)

  /// A group for each range, including empty ones, followed by the unknown entries if there are any.
  var groups: [UsageReport.Group] { unknown.entries > 0 ? known + [unknown] : known }
  private var known: [UsageReport.Group]

  /// Creates an empty tally.
  init(_ ranges: NamedRanges) {
    self.ranges = ranges
    known = ranges.names.map { UsageReport.Group(key: $0) }
  }

  /// Counts an entry.
  mutating func insert(_ number: Int64?, size: ByteCount) {
    // In a group of its own, and not in the first range: an entry without a time is not a new one.
    guard let number else { return unknown.insert(size: size) }
    known[ranges.place(of: number)].insert(size: size)
  }

  /// Adds another tally of the same ranges.
  mutating func insert(_ other: RangeTally) {
    for place in known.indices { known[place].insert(other.known[place]) }
    unknown.insert(other.unknown)
  }
}

extension UsageReport.Group {
  /// Counts an entry.
  mutating func insert(size: ByteCount) {
    entries += 1
    bytes += size
  }

  /// Adds another group.
  mutating func insert(_ other: Self) {
    entries += other.entries
    bytes += other.bytes
  }
}
