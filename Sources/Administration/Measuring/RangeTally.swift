import Bytes
import ResponseStorage

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
