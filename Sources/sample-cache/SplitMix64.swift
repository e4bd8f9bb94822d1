/// A small random number generator, whose numbers are the same on every machine and in every version
/// of Swift: `SplitMix64` by Sebastiano Vigna (public domain).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator; the same seed gives the same numbers.
  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var result = state
    result = (result ^ (result >> 30)) &* 0xBF58_476D_1CE4_E5B9
    result = (result ^ (result >> 27)) &* 0x94D0_49BB_1331_11EB
    return result ^ (result >> 31)
  }

  /// Returns a number from zero to less than `limit`.
  ///
  /// The standard library does not promise that its own way of doing this stays the same.
  mutating func below(_ limit: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(limit)).high)
  }

  /// Returns a number from 0 to less than 1.
  mutating func unit() -> Double {
    Double(next() >> 11) * 0x1p-53
  }

  /// Returns `true` in so many of a thousand cases.
  mutating func chance(inThousand cases: Int) -> Bool {
    below(1000) < cases
  }

  /// Returns one of `values`, of which there must be one.
  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[below(values.count)]
  }

  /// Returns a number whose logarithm is nearly normally distributed.
  ///
  /// The sum of twelve uniform numbers stands in for the normal distribution, and a broken line for
  /// the power, so that the result does not depend on a mathematical library.
  ///
  /// - Parameters:
  ///   - median: What half of the numbers are less than.
  ///   - doublings: The standard deviation of the binary logarithm.
  mutating func logNormal(median: Double, doublings: Double) -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += unit() }
    let power = sum * doublings
    let whole = power.rounded(.down)
    return median * Double(sign: .plus, exponent: Int(whole), significand: 1 + power - whole)
  }
}

extension UInt64 {
  /// The number as hexadecimal digits, as many as asked for, the last ones of the number.
  func hexadecimal(_ digits: Int) -> String {
    let text = String(self & (digits < 16 ? 1 << UInt64(4 * digits) - 1 : .max), radix: 16)
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }
}
