import Bytes

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
