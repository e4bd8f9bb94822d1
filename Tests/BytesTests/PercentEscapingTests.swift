import Bytes
import Testing

@Suite struct PercentEscapingTests {
  @Test func `each byte is escaped and unescaped`() {
    let bytes = Array(UInt8.min ... .max)
    for letters in [Base16.Letters.small, .capital] {
      let all = bytes.percentEscaped(letters) { _ in false }
      #expect(all.count == 3 * 256)
      #expect(all[...].percentUnescaped() == bytes)
      let some = bytes.percentEscaped(letters) { $0 != UInt8(ascii: "%") }
      #expect(some.count == 256 + 2)
      #expect(some[...].percentUnescaped() == bytes)
    }
    #expect([0x2F, 0xAB].percentEscaped { $0 == 0x2F } == Array("/%AB".utf8))
    #expect([0x2F, 0xAB].percentEscaped(.small) { $0 == 0x2F } == Array("/%ab".utf8))
  }

  @Test(arguments: [
    ("", ""), ("%", "%"), ("%4", "%4"), ("%41", "A"), ("%4g", "%4g"), ("%%41", "%A"),
    ("%2541", "%41"), ("a+b%2B", "a+b+"), ("%é", "%é"),
  ])
  func `a percent sign that starts no escape is kept`(text: String, expected: String) {
    // A slice whose first index is not 0.
    let bytes = Array("%%".utf8) + Array(text.utf8) + Array("41".utf8)
    let slice = bytes[2..<(bytes.count - 2)]
    #expect(String(decoding: slice.percentUnescaped(), as: UTF8.self) == expected)
  }

  @Test func `a plus sign is a space only on request`() {
    let text = Array("a+b%2B".utf8)[...]
    #expect(text.percentUnescaped(plusIsSpace: true) == Array("a b+".utf8))
  }
}
