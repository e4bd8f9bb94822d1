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
