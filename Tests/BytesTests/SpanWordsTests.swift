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

  private func starts(_ bytes: [UInt8], with start: [UInt8]) -> Bool {
    bytes.span.starts(with: start.span)
  }

  @Test func `a span begins with its own first bytes, and with no others`() {
    let bytes = Array(1...20 as ClosedRange<UInt8>)
    for length in 0...20 {
      let start = Array(bytes.prefix(length))
      #expect(starts(bytes, with: start))
      #expect(!starts(start, with: start + [0]))
      for place in 0..<length {
        var other = start
        other[place] ^= 0x80
        #expect(!starts(bytes, with: other), "byte \(place) of \(length)")
      }
    }
  }
}
