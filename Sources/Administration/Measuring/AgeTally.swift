import Bytes
import ResponseStorage

/// Entries counted by age: in ranges, and over limits.
struct AgeTally {
  /// The limits in seconds; each can be written as a duration on the command line.
  static let limits: [Int64] =
    // Reports draw the limits at equal distances. These become sparser with age, so that both hours
    // and years have room.
    [1, 2, 3, 4, 6, 8, 12, 18].map { $0 * 3_600 }
    + [
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 21, 24, 28, 30, 35, 40, 45, 50, 60, 70, 80, 90,
      105,
      120, 135, 150, 180, 210, 240, 270, 300, 365, 420, 480, 540, 630, 730, 850, 1_000, 1_200,
      1_460,
      1_825,
    ].map { $0 * 86_400 }
    + [6, 7, 8, 10, 12, 14, 16, 20, 25, 30, 40, 50].map { $0 * 365 * 86_400 }

  private let now: Timestamp
  /// The times before which an entry exceeds a limit, latest first.
  private let bounds: [Double]
  private var groups = NamedRanges.ages.names.map { CacheReport.AgeGroup(name: $0) }
  private var unknown = CacheReport.AgeGroup(name: nil)
  private var dates = DateTally()
  // The entries over a limit but not over the next one; the first element counts those over no limit.
  private var removed: [CacheReport.Sum]
  private var fresh: [CacheReport.Sum]

  /// Creates an empty tally.
  init(now: Timestamp) {
    self.now = now
    // `AgeLimit` also decides for `purge`, `enforce` and rules, so a report promises exactly what
    // they remove.
    bounds = Self.limits.map { AgeLimit(Double($0), at: now).cutoff.secondsSince1970 }
    removed = Array(repeating: .init(), count: bounds.count + 1)
    fresh = removed
  }

  /// Counts an entry.
  mutating func insert(_ stored: Timestamp?, size: ByteCount, _ state: CacheReport.State) {
    guard let stored else { return unknown.sums[state].insert(size) }
    // Whole seconds, as in listings: an entry must not be in one range here and in another there.
    let place = NamedRanges.ages.place(of: now.wholeSeconds - stored.wholeSeconds)
    groups[place].sums[state].insert(size)
    // Younger entries spread over several ranges, or are too young for dates to tell them apart.
    if place >= Self.firstWithDates { dates.insert(stored, size: size, state) }
    let passed = limitsPassed(by: stored.secondsSince1970)
    removed[passed].insert(size)
    if state == .fresh { fresh[passed].insert(size) }
  }

  /// Counts the entries of another tally.
  mutating func insert(_ other: AgeTally) {
    for place in groups.indices { groups[place].sums.insert(other.groups[place].sums) }
    unknown.sums.insert(other.unknown.sums)
    dates.insert(other.dates)
    for place in removed.indices {
      removed[place] = removed[place].adding(other.removed[place])
      fresh[place] = fresh[place].adding(other.fresh[place])
    }
  }

  /// Returns how many limits a time exceeds.
  private func limitsPassed(by moment: Double) -> Int {
    // A binary search without unpredictable branches: each step halves the count, whatever the comparison yields.
    let bounds = bounds.span
    var (passed, count) = (0, bounds.count)
    while count > 0 {
      let half = (count &+ 1) / 2
      passed &+= moment < bounds[passed &+ half &- 1] ? half : 0
      count &-= half
    }
    return passed
  }

  /// The first range whose entries are also counted by date: from 28 days on.
  private static let firstWithDates = NamedRanges.ages.place(of: 28 * 86_400)

  /// The ranges, or dates if the entries are in one or two old ranges, which would be one or two bars; followed by the
  /// entries of unknown age if there are any.
  var ages: (groups: [CacheReport.AgeGroup], areDates: Bool) {
    let filled = groups.indices.filter { groups[$0].sums != .init() }
    let areOld = filled.first.map { $0 >= Self.firstWithDates } ?? false
    let dates = areOld && filled.count <= 2 ? dates.groups : nil
    return (
      (dates ?? groups) + (unknown.sums == .init() ? [] : [unknown]), dates != nil
    )
  }

  /// The entries that each limit would remove.
  var limits: [CacheReport.AgeLimit] {
    var result: [CacheReport.AgeLimit] = []
    var (all, stillFresh) = (CacheReport.Sum(), CacheReport.Sum())
    for (place, seconds) in Self.limits.enumerated().reversed() {
      all = all.adding(removed[place + 1])
      stillFresh = stillFresh.adding(fresh[place + 1])
      var limit = CacheReport.AgeLimit(seconds: seconds)
      (limit.removed, limit.fresh) = (all, stillFresh)
      result.append(limit)
    }
    return result.reversed()
  }
}
