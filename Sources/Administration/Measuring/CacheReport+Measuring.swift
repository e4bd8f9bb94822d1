public import Bytes
public import ResponseStorage

extension CacheReport {
  /// Measures a cache in one pass over its entries, and checks it in another.
  ///
  /// A sum that overflows stays at the maximum: a store can claim any size.
  ///
  /// - Parameters:
  ///   - now: The time that ages are relative to, and at which entries are fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  ///   - capacityBytes: The limit to compare the size on disk with, if there is one.
  ///   - clock: The system time, for the age of files; `nil` for `now`.
  ///   - temporaryFolder: The folder for the unnamed files that a large cache needs.
  /// - Throws: The error that the source throws, or `FileError` if a temporary file cannot be used.
  /// - Complexity: O(*n* log *n*), where *n* is the number of entries. Memory grows with the number of body files only.
  public init(
    of source: any ResponseSource, at now: Timestamp, expiryRules: [UserInfoExpiry.Rule],
    capacityBytes: ByteCount?, clock: Timestamp? = nil, temporaryFolder: String
  ) throws {
    var usage = UsageReport(footprint: try source.footprint())
    usage.capacityBytes = capacityBytes
    usage.inUseBytes = try UsageReport.spaceWithoutEntries(
      of: source, usage.footprint, at: clock ?? now)
    self.init(of: source.description, usage, now: now)
    self.expiryRules = expiryRules
    let isApple = store.format == .apple
    // CFNetwork stores no body larger than about 5% of the capacity.
    let empty = CacheReportTally(
      now: now, expiryRules: expiryRules,
      largestBody: isApple ? capacityBytes.map { $0 / 20 } : nil)
    var tally = empty
    var search = VersionSearch(in: temporaryFolder)
    // Sums need no order, so each reading thread adds up its part, and only sums are passed between
    // threads.
    try source.scan(ScanRequest(CacheReportTally.projection, in: .any), into: empty) { part in
      try search.insert(part.removeVersions())
      tally.insert(part)
      part = empty
      return .next
    }
    try tally.write(to: &self, lookingUpIn: source)
    self.usage.superseded = try search.sum()
    // In a pass of its own, because it needs more of each response than all other figures together.
    self.usage.savings = try CacheSavings(of: source, at: now, expiryRules: expiryRules)
    try check(source, clock: clock ?? now, in: temporaryFolder)
    suggestions = Suggestion.all(for: self)
  }

  /// Counts the findings that `check` reports.
  private mutating func check(
    _ source: any ResponseSource, clock: Timestamp, in temporaryFolder: String
  ) throws {
    var broken: StoredResponse.ID?
    let options = StoreCheck.Options(
      fully: false, repairs: [], now: now, clock: clock, temporaryFolder: temporaryFolder)
    func record(_ finding: Finding) {
      findingCounts[finding.code.severity, default: 0] += 1
      if let place = findings.firstIndex(where: { $0.code == finding.code }) {
        findings[place].count += 1
      } else {
        findings.append(.init(code: finding.code, count: 1))
      }
      if let orphan = finding.orphan { orphans.insert(orphan.size) }
      // The findings on an entry follow each other.
      guard let repair = finding.code.repair, repair != .orphans, let id = finding.id, id != broken
      else { return }
      broken = id
      brokenEntries += 1
    }
    let check = try StoreCheck(of: source, options) { record($0) }
    // An app may be about to store a body. `check` looks again, but a report describes a single moment.
    for suspect in check.suspects { record(suspect.finding) }
    let severities = Finding.Severity.allCases
    findings.sort {
      let ranks = [$0, $1].map { severities.firstIndex(of: $0.code.severity) ?? 0 }
      return ranks[0] == ranks[1] ? $0.code.name < $1.code.name : ranks[0] < ranks[1]
    }
  }
}
