/// A small random number generator with the same sequence on every machine and in every version of Swift:
/// `SplitMix64` by Sebastiano Vigna (public domain).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator. Equal seeds give equal sequences.
  init(seed: UInt64) {
    state = seed
  }

  private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Skips the next `count` numbers, however many they are, at once.
  mutating func skip(_ count: Int) {
    state &+= UInt64(count) &* Self.increment
  }

  mutating func next() -> UInt64 {
    state &+= Self.increment
    var result = state
    result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
    result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
    return result ^ (result >> 31)
  }

  /// Returns a number from 0 up to, but not including, `limit`.
  ///
  /// The standard library does not guarantee that its own algorithm never changes.
  mutating func below(_ limit: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(limit)).high)
  }

  /// Returns a number from 0 up to, but not including, 1.
  mutating func unit() -> Double {
    // The upper 53 bits: as many as a `Double` represents exactly, so every value is equally
    // likely.
    Double(next() >> 11) * 0x1p-53
  }

  /// Returns `true` with a probability of `cases` in a thousand.
  mutating func chance(inThousand cases: Int) -> Bool {
    below(1000) < cases
  }

  /// Returns a random element of `values`, which must not be empty.
  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[below(values.count)]
  }

  /// Returns an approximately log-normally distributed number.
  ///
  /// A sum of twelve uniform numbers approximates the normal distribution, and linear interpolation the power of two,
  /// so that the result does not depend on the C math library.
  ///
  /// - Parameters:
  ///   - median: The median.
  ///   - doublings: The standard deviation of the binary logarithm.
  mutating func logNormal(median: Double, doublings: Double) -> Double {
    var sum = -6.0
    // The sum of twelve has a variance of exactly 1, so no factor is needed.
    for _ in 0..<12 { sum += unit() }
    let power = sum * doublings
    let whole = power.rounded(.down)
    return median * Double(sign: .plus, exponent: Int(whole), significand: 1 + power - whole)
  }
}

extension UInt64 {
  /// Returns the lowest `digits` hexadecimal digits of the number, padded with zeros.
  func hexadecimal(_ digits: Int) -> String {
    let text = String(self & (digits < 16 ? 1 << UInt64(4 * digits) - 1 : .max), radix: 16)
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }
}
