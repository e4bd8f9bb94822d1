import Bytes
import Testing

@Suite struct SpanWordsTests {
  @Test func `eight bytes are read as a little-endian number`() {
    let bytes = Array(1...20 as ClosedRange<UInt8>)
    for place in 0...20 {
      let eight = (bytes + Array(repeating: 0, count: 8))[place..<(place + 8)]
      let expected = eight.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      #expect(bytes.span.word(paddedAt: place) == expected)
      if place <= 12 { #expect(bytes.span.word(at: place) == expected) }
    }
  }
}
