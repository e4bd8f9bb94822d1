import Bytes
import Testing

@Suite struct ByteCountTests {
  @Test func `a count is made from any integer`() {
    #expect(ByteCount(7).bytes == 7)
    #expect(ByteCount([1, 2].count).bytes == 2)
    #expect(ByteCount(Int64.min).bytes == .min)
    #expect(ByteCount(UInt8.max).bytes == 255)
    #expect((1_024 as ByteCount).bytes == 1_024)
    #expect((-1 as ByteCount).bytes == -1)
  }

  @Test func `an integer out of range becomes the nearest count`() {
    #expect(ByteCount(UInt64.max) == .max)
    #expect(ByteCount(UInt64(1) << 63) == .max)
    #expect(ByteCount(UInt64(Int64.max)) == .max)
    #expect(ByteCount(Int128.max) == .max)
    #expect(ByteCount(Int128.min) == .min)
  }

  @Test func `a count is encoded as its number`() {
    #expect("\(1_024 as ByteCount), \(ByteCount.min)" == "1024, -9223372036854775808")
  }

  @Test func `counts are ordered by their numbers`() {
    let counts: [ByteCount] = [3, .max, -1, 0, .min]
    #expect(counts.sorted() == [.min, -1, 0, 3, .max])
    #expect(Set(counts + counts).count == 5)
    #expect(max(0, 3 - 5 as ByteCount) == 0)
  }

  @Test(
    arguments: [
      (.max, 1, .max), (.max, .max, .max), (.min, -1, .min), (.min, .min, .min), (.max, .min, -1),
      (ByteCount(Int64.max - 1), 1, .max), (-5, 7, 2), (0, 0, 0),
    ] as [(ByteCount, ByteCount, ByteCount)])
  func `a sum saturates`(_ one: ByteCount, _ other: ByteCount, _ sum: ByteCount) {
    #expect(one + other == sum)
    #expect(other + one == sum)
    var total = one
    total += other
    #expect(total == sum)
  }

  @Test(
    arguments: [
      (.min, 1, .min), (.min, .max, .min), (.max, -1, .max), (.max, .min, .max), (0, .min, .max),
      (-1, .min, .max), (-2, .max, .min), (.max, .max, 0), (.min, .min, 0), (5, 7, -2),
    ] as [(ByteCount, ByteCount, ByteCount)])
  func `a difference saturates`(_ one: ByteCount, _ other: ByteCount, _ difference: ByteCount) {
    #expect(one - other == difference)
    var rest = one
    rest -= other
    #expect(rest == difference)
  }

  @Test(
    arguments: [
      (.max, 2, .max), (.max, -2, .min), (.min, 2, .min), (.min, -1, .max), (.min, 1, .min),
      (.max, 0, 0), (4_096, .max, .max), (4_096, .min, .min), (-3, 5, -15),
    ] as [(ByteCount, Int, ByteCount)])
  func `a product saturates`(_ count: ByteCount, _ factor: Int, _ product: ByteCount) {
    #expect(count * factor == product)
  }

  @Test(
    arguments: [
      (7, 2, 3), (-7, 2, -3), (.max, 1, .max), (.min, -1, .max), (.min, 1, .min), (5, 0, .max),
      (-5, 0, .min),
    ] as [(ByteCount, Int, ByteCount)])
  func `a quotient saturates`(_ count: ByteCount, _ divisor: Int, _ quotient: ByteCount) {
    #expect(count / divisor == quotient)
  }

  @Test func `a count converts to Double, for percentages`() {
    #expect(Double(1_536 as ByteCount) / 1_024 == 1.5)
    #expect(Double(ByteCount.max) == 0x1p63)
  }

  @Test func `the negative of the smallest count is the largest`() {
    #expect(-ByteCount.min == .max)
    #expect(-ByteCount.max == ByteCount(Int64.min + 1))
    #expect(-(0 as ByteCount) == 0)
  }

  @Test func `arithmetic equals that of wider integers, clamped`() {
    // Limits, small numbers, and numbers of every bit width: uniform random numbers would nearly all be huge.
    var random = Numbers(state: 1)
    for _ in 0..<20_000 {
      let (one, other) = (random.next(), random.next())
      let (a, b) = (ByteCount(one), ByteCount(other))
      #expect(a + b == ByteCount(Int128(one) + Int128(other)), "\(one) + \(other)")
      #expect(a - b == ByteCount(Int128(one) - Int128(other)), "\(one) - \(other)")
      #expect(a * Int(other) == ByteCount(Int128(one) * Int128(other)), "\(one) * \(other)")
      if other != 0 {
        #expect(a / Int(other) == ByteCount(Int128(one) / Int128(other)), "\(one) / \(other)")
      }
      #expect(-a == ByteCount(-Int128(one)), "-\(one)")
      #expect((a < b) == (one < other), "\(one) < \(other)")
    }
  }
}

/// Numbers of every magnitude and both signs, the same in every run.
private struct Numbers {
  var state: UInt64

  mutating func next() -> Int64 {
    let word = bits()
    switch bits() % 8 {
    case 0: return [0, 1, -1, .max, .min, .max - 1, .min + 1][Int(word % 7)]
    default: return Int64(truncatingIfNeeded: word) >> Int64(bits() % 64)
    }
  }

  /// SplitMix64.
  private mutating func bits() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
    return word ^ word >> 31
  }
}
