import Bytes

/// The places of what texts begin with, as far as they were looked up lately.
///
/// Each beginning has one slot, and takes it from another that has the same. So hostile texts can make a look-up
/// fail, after which a slower one is needed, and nothing else.
struct RecentBeginnings {
  /// How many bytes a beginning has that is kept; a shorter one is no URL.
  private static let lengths = 8...64
  private static let wordsOfSlot = 8
  private static let slotBits = 12

  private struct Slot {
    var length = 0
    var place = 0
  }

  private var slots = Array(repeating: Slot(), count: 1 << slotBits)
  private var words = Array(repeating: UInt64(0), count: wordsOfSlot << slotBits)

  /// The place of a beginning, if it is known.
  func place(of beginning: Span<UInt8>) -> Int? {
    guard Self.lengths.contains(beginning.count) else { return nil }
    let number = Self.slot(of: beginning)
    guard slots[number].length == beginning.count else { return nil }
    for index in 0..<Self.wordCount(of: beginning)
    where words[number * Self.wordsOfSlot + index] != Self.word(index, of: beginning) {
      return nil
    }
    return slots[number].place
  }

  /// Keeps the place of a beginning, unless it is too long.
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
      // An odd number whose bits are evenly mixed: that of the golden ratio.
      hash = (hash ^ word(index, of: beginning)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
    }
    return Int(truncatingIfNeeded: hash >> UInt64(64 - slotBits))
  }

  private static func wordCount(of beginning: Span<UInt8>) -> Int { (beginning.count &+ 7) / 8 }

  /// One of the words of a beginning; the last one has bytes of the one before, so that it has eight, too.
  @inline(__always)
  private static func word(_ index: Int, of beginning: Span<UInt8>) -> UInt64 {
    beginning.word(at: min(index &* 8, beginning.count &- 8))
  }
}
