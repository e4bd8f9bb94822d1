import Bytes
import ResponseStorage

/// Entries added up by the sizes of their bodies, in four classes for each power of two.
struct SizeTally {
  private static let classesOfPower = 4

  private var sums = Array(repeating: CacheReport.Sum(), count: 64 * classesOfPower)

  /// Counts an entry whose body is there.
  mutating func insert(_ size: ByteCount) {
    sums[Self.place(of: max(size, 0))].insert(size)
  }

  /// Counts the entries of another tally.
  mutating func insert(_ other: SizeTally) {
    for place in sums.indices { sums[place] = sums[place].adding(other.sums[place]) }
  }

  /// The classes from the smallest to the largest that have entries.
  var groups: [CacheReport.SizeGroup] {
    sums.enumerated().filter { $0.element.entries > 0 }.map { place, sum in
      CacheReport.SizeGroup(largest: Self.largest(at: place), sum: sum)
    }
  }

  /// The class of a size, by its highest bit and the two bits after it.
  private static func place(of size: ByteCount) -> Int {
    let size = size.bytes
    guard size >= 4 else { return Int(size) }
    let power = 63 - size.leadingZeroBitCount
    return power * classesOfPower + Int(size >> Int64(power - 2) & 3)
  }

  /// The largest size of a class.
  private static func largest(at place: Int) -> ByteCount {
    let (power, step) = place.quotientAndRemainder(dividingBy: classesOfPower)
    guard power >= 2 else { return ByteCount(place) }
    let first = Int64(4 + step) << Int64(power - 2)
    return ByteCount(first + (Int64(1) << Int64(power - 2) - 1))
  }
}
