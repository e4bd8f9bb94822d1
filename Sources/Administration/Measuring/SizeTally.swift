import Bytes
import ResponseStorage

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
