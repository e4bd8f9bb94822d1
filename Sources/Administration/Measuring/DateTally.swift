import Bytes
import ResponseStorage

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
