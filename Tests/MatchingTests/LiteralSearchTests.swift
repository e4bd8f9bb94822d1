import Bytes
import Matching
import Testing

@Suite struct LiteralSearchTests {
  /// Returns where an occurrence begins, by comparing at each position.
  private func naive(_ text: [UInt8], _ wanted: [UInt8], from start: Int) -> Int? {
    guard text.count - start >= wanted.count else { return nil }
    return (start...(text.count - wanted.count)).first { text[$0...].starts(with: wanted) }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `every occurrence is found, and nothing else`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      // Few letters, so that there are many occurrences, and many that fail at the last byte.
      let letters: [UInt8] =
        Bool.random(using: &random) ? Array("ab".utf8) : Array("abez \n\u{e9}".utf8)
      let text = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let wanted = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let search = LiteralSearch(ByteString(wanted))
      for start in [0, 1, text.count / 2, text.count, text.count + 1] {
        #expect(
          search.firstIndex(in: text.span, from: start) == naive(text, wanted, from: start),
          "\(text) \(wanted) \(start)")
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `letters match in both cases if that is wanted`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = Array("abAB@`[{z".utf8)
    for _ in 0..<200 {
      let text = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let wanted = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      }
      let search = LiteralSearch(ByteString(wanted), ignoringASCIICase: true)
      let correct = naive(text.map(\.asciiLowercased), wanted.map(\.asciiLowercased), from: 0)
      #expect(search.firstIndex(in: text.span) == correct, "\(text) \(wanted)")
    }
  }

  @Test func `one occurrence is found at each place`() {
    for wanted in ["x", "xy", "needle", "a needle in a haystack of words"] {
      let search = LiteralSearch(ByteString(wanted))
      for place in 0...150 {
        var text = [UInt8](repeating: UInt8(ascii: "."), count: 150 + wanted.utf8.count)
        text.replaceSubrange(place..<place + wanted.utf8.count, with: wanted.utf8)
        #expect(search.firstIndex(in: text.span) == place)
        #expect(
          search.firstIndex(in: text.span.extracting(0..<place + wanted.utf8.count - 1)) == nil)
      }
    }
  }

  @Test func `each byte can be searched`() {
    let text = Array(0...255 as ClosedRange<UInt8>)
    for byte in text {
      #expect(LiteralSearch(ByteString([byte])).firstIndex(in: text.span) == Int(byte))
    }
  }
}

/// A generator of the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
