import Bytes

/// A cache of the places of recently seen prefixes.
///
/// Each prefix has one slot, and replaces another prefix with the same slot. Hostile prefixes can only cause misses,
/// each followed by a slower look-up.
struct RecentBeginnings {
  /// The lengths of prefixes that are kept, in bytes; no URL is shorter.
  private static let lengths = 8...64
  private static let wordsOfSlot = 8
  private static let slotBits = 12

  private struct Slot {
    var length = 0
    var place = 0
  }

  private var slots = Array(repeating: Slot(), count: 1 << slotBits)
  private var words = Array(repeating: UInt64(0), count: wordsOfSlot << slotBits)

  /// Returns the place of a prefix, if known.
  func place(of beginning: Span<UInt8>) -> Int? {
    guard Self.lengths.contains(beginning.count) else { return nil }
    let number = Self.slot(of: beginning)
    // The prefix itself is compared, and not only its hash: a hostile URL must not be counted in
    // the folder of another.
    guard slots[number].length == beginning.count else { return nil }
    for index in 0..<Self.wordCount(of: beginning)
    where words[number * Self.wordsOfSlot + index] != Self.word(index, of: beginning) {
      return nil
    }
    return slots[number].place
  }

  /// Stores the place of a prefix, unless it is too long.
  mutating func insert(_ beginning: Span<UInt8>, at place: Int) {
    guard Self.lengths.contains(beginning.count) else { return }
    let number = Self.slot(of: beginning)
    slots[number] = Slot(length: beginning.count, place: place)
    for index in 0..<Self.wordCount(of: beginning) {
      words[number * Self.wordsOfSlot + index] = Self.word(index, of: beginning)
    }
  }

  private static func slot(of beginning: Span<UInt8>) -> Int {
    var hash = UInt64(truncatingIfNeeded: beginning.count)
    for index in 0..<wordCount(of: beginning) {
      // Fibonacci hashing: 2^64 divided by the golden ratio mixes the bits evenly.
      hash = (hash ^ word(index, of: beginning)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    return Int(truncatingIfNeeded: hash >> UInt64(64 - slotBits))
  }

  private static func wordCount(of beginning: Span<UInt8>) -> Int { (beginning.count &+ 7) / 8 }

  /// Returns a word of a prefix; the last word overlaps the previous one, so that it also has eight bytes.
  @inline(__always)
  private static func word(_ index: Int, of beginning: Span<UInt8>) -> UInt64 {
    beginning.word(at: min(index &* 8, beginning.count &- 8))
  }
}
