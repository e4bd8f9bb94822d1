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

/// Entries counted by the day on which they were stored, in UTC.
struct DateTally {
  /// The days that are counted separately: those of a century before 1970 and of two after it. All other days are
  /// times that a hostile cache claims, and would let memory grow.
  private static let days: ClosedRange<Int64> = -36_525...73_050

  /// The maximum number of groups: more would be thinner than their names.
  private static let mostGroups = 31

  private var sums: [Int64: CacheReport.StateSums] = [:]
  private var isComplete = true

  /// Counts an entry.
  mutating func insert(_ stored: Timestamp, size: ByteCount, _ state: CacheReport.State) {
    let seconds = stored.wholeSeconds
    let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    guard Self.days.contains(day) else { return isComplete = false }
    sums[day, default: .init()][state].insert(size)
  }

  /// Counts the entries of another tally.
  mutating func insert(_ other: DateTally) {
    for (day, sums) in other.sums { self.sums[day, default: .init()].insert(sums) }
    isComplete = isComplete && other.isComplete
  }

  /// The entries by day, month or year, the shortest that is at most ``mostGroups`` groups, including empty ones, oldest
  /// first; `nil` if there are no entries, or years would be too many too.
  var groups: [CacheReport.AgeGroup]? {
    guard isComplete, let oldest = sums.keys.min(), let newest = sums.keys.max() else { return nil }
    let (first, last) = (Self.date(of: oldest), Self.date(of: newest))
    if newest - oldest < Self.mostGroups {
      return groups(from: oldest, to: newest, { day, _ in day }) { day in
        let date = Self.date(of: day)
        return "\(date.year)-\(Self.twoDigits(date.month))-\(Self.twoDigits(date.day))"
      }
    }
    let month = { (date: CivilTime) in date.year * 12 + date.month - 1 }
    if month(last) - month(first) < Self.mostGroups {
      return groups(from: month(first), to: month(last), { month($1) }) {
        "\($0 / 12)-\(Self.twoDigits($0 % 12 + 1))"
      }
    }
    guard last.year - first.year < Self.mostGroups else { return nil }
    return groups(from: first.year, to: last.year, { $1.year }) { "\($0)" }
  }

  private func groups(
    from first: Int64, to last: Int64, _ place: (Int64, CivilTime) -> Int64,
    name: (Int64) -> String
  ) -> [CacheReport.AgeGroup] {
    var groups = (first...last).map { CacheReport.AgeGroup(name: ByteString(name($0))) }
    for (day, sums) in sums {
      groups[Int(place(day, Self.date(of: day)) - first)].sums.insert(sums)
    }
    return groups
  }

  private static func date(of day: Int64) -> CivilTime {
    // The nanoseconds of all counted days fit: `Int64` has room for 292 years.
    CivilTime(Timestamp(nanosecondsSince1970: day * 86_400 * 1_000_000_000))
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

/// The median of sizes, in bounded memory.
///
/// Up to ``exactLimit`` sizes are kept. Beyond that they are only counted in classes: one for each size below 2,048,
/// and 1,024 for each larger power of two. Memory is at most 1 MiB for any store, and the median is then off by at most
/// 1 in 2,048.
struct MedianSize {
  // Eight bytes each make 512 KiB, about as much as the counts of the 55,296 classes that replace
  // them.
  /// The number of sizes up to which the median is exact.
  static let exactLimit = 65_536

  private static let classBits = 10

  private var sizes: [ByteCount] = []
  private var classCounts: [Int64] = []
  private var count: Int64 = 0

  /// Adds a size; a negative size counts as zero.
  mutating func insert(_ size: ByteCount) {
    let size = max(size, 0)
    count += 1
    if classCounts.isEmpty {
      sizes.append(size)
      if sizes.count > Self.exactLimit { classify() }
    } else {
      classCounts[Self.sizeClass(of: size.bytes)] += 1
    }
  }

  /// Adds other sizes.
  mutating func insert(_ other: MedianSize) {
    for size in other.sizes { insert(size) }
    guard !other.classCounts.isEmpty else { return }
    if classCounts.isEmpty { classify() }
    for (place, count) in other.classCounts.enumerated() { classCounts[place] += count }
    count += other.count
  }

  /// The median, the smaller of two middle sizes; `nil` if there are no sizes.
  var median: UsageReport.Median? {
    guard count > 0 else { return nil }
    // An existing size and no mean of two: half of 3 and 4 bytes is no size that a body has.
    let rank = (count - 1) / 2
    guard !classCounts.isEmpty else {
      return UsageReport.Median(bytes: sizes.sorted()[Int(rank)], isExact: true)
    }
    var counted: Int64 = 0
    for (sizeClass, count) in classCounts.enumerated() {
      counted += count
      if counted > rank { return Self.middle(of: sizeClass) }
    }
    return nil
  }

  private mutating func classify() {
    classCounts = Array(repeating: 0, count: Self.sizeClass(of: .max) + 1)
    for size in sizes { classCounts[Self.sizeClass(of: size.bytes)] += 1 }
    sizes = []
  }

  /// Returns the class of a size: its highest bits and the number of bits dropped after them.
  private static func sizeClass(of number: Int64) -> Int {
    let dropped = droppedBits(of: number)
    return (dropped << classBits) + Int(number >> Int64(dropped))
  }

  private static func middle(of sizeClass: Int) -> UsageReport.Median {
    let dropped = max(0, (sizeClass >> classBits) - 1)
    let lowest = Int64(sizeClass - (dropped << classBits)) << Int64(dropped)
    return UsageReport.Median(
      bytes: ByteCount(lowest + (Int64(1) << Int64(dropped)) / 2), isExact: dropped == 0)
  }

  private static func droppedBits(of number: Int64) -> Int {
    max(0, 63 - number.leadingZeroBitCount - classBits)
  }
}
