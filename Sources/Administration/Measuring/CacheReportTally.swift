import Bytes
import ResponseStorage

/// The entries of a cache added up for a report, in bounded memory.
struct CacheReportTally: ResponseTally {
  // With 30 hosts, ten folders each and 500 entries in them, this keeps a page below 600 kB for any
  // cache.
  /// The number of largest entries to list.
  private static let largestCount = 120

  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private var usage: UsageTally
  private var inlineBytes: ByteCount = 0
  private var states = CacheReport.StateSums()
  private var ages: AgeTally
  private var sizes = SizeTally()
  private var hosts = HostTally()
  private var largest = LargestEntries()

  /// Creates an empty tally.
  ///
  /// - Parameter largestBody: The size in bytes above which a body counts as too large; `nil` if there is no limit.
  init(now: Timestamp, expiryRules: [UserInfoExpiry.Rule], largestBody: ByteCount?) {
    self.now = now
    self.expiryRules = expiryRules
    usage = UsageTally(
      by: nil, now: now, expiryRules: expiryRules, largestBody: largestBody,
      withHistograms: false, findsVersions: true, measuresSpace: true, groupMemory: 0)
    ages = AgeTally(now: now)
  }

  /// The fields to decode of the entries.
  static let projection: Projection = CacheReport.State.projection.union([.url, .body, .stored])
    .union(VersionedEntry.projection).union(.share)

  /// Counts an entry.
  mutating func insert(_ response: borrowing StoredResponse) {
    usage.insert(response)
    let size = response.bodySize ?? 0
    // Hardly any response needs the rules. Threads share them, and would contend for the reference count.
    let rules = response.userInfo.isEmpty ? [] : expiryRules
    let state = CacheReport.State(of: response, at: now, rules: rules)
    if response.bodyLocation == .inline { inlineBytes += size }
    states[state].insert(size)
    ages.insert(response.stored, size: size, state)
    // A missing body has no size, and would show up as an empty one.
    if let size = response.bodySize { sizes.insert(size) }
    hosts.insert(response, size: size, state)
    largest.insert(response.id, size: size, state, limit: Self.largestCount)
  }

  var isFull: Bool { usage.isFull }

  /// Adds another tally with the same parameters.
  mutating func insert(_ other: CacheReportTally) {
    usage.insert(other.usage)
    inlineBytes += other.inlineBytes
    states.insert(other.states)
    ages.insert(other.ages)
    sizes.insert(other.sizes)
    hosts.insert(other.hosts)
    largest.insert(other.largest, limit: Self.largestCount)
  }

  /// Removes and returns the versions of resources, so that memory does not grow with their number.
  mutating func removeVersions() -> [VersionedEntry] { usage.removeVersions() }

  /// Writes the results to a report.
  ///
  /// - Parameter source: The source for the details of the largest entries.
  func write(to report: inout CacheReport, lookingUpIn source: any ResponseSource) throws {
    usage.write(to: &report.usage)
    report.usage.churn = try CacheChurn(
      of: source, usage.ids, bodyBytes: report.usage.bodyBytes)
    report.inlineBytes = inlineBytes
    report.states = states
    (report.ages, report.agesAreDates) = ages.ages
    report.ageLimits = ages.limits
    report.sizes = sizes.groups
    hosts.write(to: &report)
    report.largest = largest.candidates.map { CacheReport.Entry($0) }
    try report.describeEntries(from: source)
  }
}
