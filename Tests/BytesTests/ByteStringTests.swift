import Bytes
import Testing

@Suite struct ByteStringTests {
  @Test func `texts are equal if their bytes are`() {
    let composed = ByteString("\u{E9}")
    let decomposed = ByteString("e\u{301}")
    #expect(composed.string == decomposed.string)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, ByteString([0xC3, 0xA9])]).count == 2)
  }

  @Test func `texts of any length have different hashes`() {
    // With trailing zeros, which the padding of a shorter text also contains.
    let texts = (0..<40).flatMap { length in
      [0, 1].map { last in ByteString(Array(repeating: 0, count: length) + [last as UInt8]) }
    }
    #expect(Set(texts).count == texts.count)
    #expect(Set(texts.map(\.hashValue)).count == texts.count)
  }

  @Test func `bytes that are not UTF-8 have no string`() {
    #expect(ByteString([0x61, 0xFF]).string == nil)
    #expect(ByteString([]).string == "")
  }

  @Test func `texts are ordered by their bytes`() {
    let texts: [ByteString] = ["", "B", "a", "aa", "b", "\u{E9}", "\u{FFFF}", "\u{10000}"]
    #expect(texts.shuffled().sorted() == texts)
  }

  @Test func `a copy is equal and has no spare capacity`() {
    var text = ByteString("abc")
    text.bytes.reserveCapacity(10_000)
    let copy = ByteString(copying: text)
    #expect(copy == text)
    #expect(copy.bytes.capacity < 1_000)
  }
}
