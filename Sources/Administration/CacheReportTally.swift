import ResponseStorage

/// The entries of a cache added up for a report, one by one and in bounded memory.
struct CacheReportTally: ResponsePortion {
  /// How many of the largest entries are named.
  private static let largestCount = 120

  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private var usage: UsageTally
  private var inlineBytes: Int64 = 0
  private var states = CacheReport.StateSums()
  private var ages: AgeTally
  private var sizes = SizeTally()
  private var hosts = HostTally()
  private var largest = LargestEntries()
  private var removable = CacheReport.StateSums()
  private var problems: [CacheReport.Problem] = []

  /// Starts without entries.
  ///
  /// - Parameter largestBody: The size in bytes above which a body counts as too large; `nil` if there is
  ///   none.
  init(now: Timestamp, expiryRules: [UserInfoExpiry.Rule], largestBody: Int64?) {
    self.now = now
    self.expiryRules = expiryRules
    usage = UsageTally(
      by: nil, now: now, expiryRules: expiryRules, largestBody: largestBody,
      withHistograms: false, groupMemory: 0)
    ages = AgeTally(now: now)
  }

  /// What has to be decoded of the entries.
  static let projection: Projection = CacheReport.State.projection.union([.url, .body, .stored])

  /// Counts an entry.
  mutating func insert(_ response: borrowing StoredResponse) {
    usage.insert(response)
    let size = response.bodySize ?? 0
    // Hardly any response needs the rules, which threads share: they wait for each other to count who holds on to
    // them.
    let rules = response.userInfo.isEmpty ? [] : expiryRules
    let state = CacheReport.State(of: response, at: now, rules: rules)
    if response.bodyLocation == .inline { inlineBytes = inlineBytes.addingClamped(size) }
    states[state].insert(size)
    // What URLCache does not see is selected by its id only.
    let canGo = !response.isOrphan
    if canGo { removable[state].insert(size) }
    ages.insert(response.stored, size: size, state, canGo: canGo)
    if let size = response.bodySize { sizes.insert(size) }
    hosts.insert(response, size: size, state)
    largest.insert(response.id, size: size, state, limit: Self.largestCount)
    for note in response.notes { insert(note.code.finding) }
  }

  var isFull: Bool { false }

  mutating func take(_ response: inout StoredResponse) { insert(response) }

  /// Counts the entries of another tally, which was started in the same way.
  mutating func insert(_ other: CacheReportTally) {
    usage.insert(other.usage)
    inlineBytes = inlineBytes.addingClamped(other.inlineBytes)
    states.insert(other.states)
    ages.insert(other.ages)
    sizes.insert(other.sizes)
    hosts.insert(other.hosts)
    largest.insert(other.largest, limit: Self.largestCount)
    removable.insert(other.removable)
    for problem in other.problems { insert(problem.code, count: problem.count) }
  }

  private mutating func insert(_ code: Finding.Code, count: Int64 = 1) {
    guard let place = problems.firstIndex(where: { $0.code == code }) else {
      return problems.append(.init(code: code, count: count))
    }
    problems[place].count += count
  }

  /// Puts what was counted into a report.
  ///
  /// - Parameter source: Where the largest entries are looked up, by their ids.
  func write(to report: inout CacheReport, lookingUpIn source: any ResponseSource) throws {
    usage.write(to: &report.usage)
    report.inlineBytes = inlineBytes
    report.states = states
    report.ages = ages.ages
    report.ageLimits = ages.limits
    report.sizes = sizes.groups
    hosts.write(to: &report)
    report.largest = largest.candidates.map { CacheReport.Entry($0) }
    try report.describeEntries(from: source)
    let severities = Finding.Severity.allCases
    report.problems = problems.sorted {
      let ranks = [$0, $1].map { severities.firstIndex(of: $0.code.severity) ?? 0 }
      return ranks[0] == ranks[1] ? $0.code.name < $1.code.name : ranks[0] < ranks[1]
    }
    report.suggestions = Suggestion.all(for: report, expired: removable[.expired])
  }
}
