import Bytes
import Testing

@Suite struct PrintableASCIITests {
  @Test func `each byte is classified at each position`() {
    for length in 1...17 {
      for place in 0..<length {
        for byte in UInt8.min ... .max {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          text[place] = byte
          let isPlain =
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "\"")
          let answer = PrintableASCII.isAll(
            of: text.span, but: UInt8(ascii: ","), UInt8(ascii: "\""))
          #expect(answer == isPlain, "\(byte) at \(place) of \(length)")
          let isPrintable = PrintableASCII.isAll(of: text.span)
          #expect(
            isPrintable == (0x20..<0x7F).contains(byte), "\(byte) at \(place) of \(length)")
        }
      }
    }
  }

  @Test func `all printable characters are plain`() {
    let (text, nothing) = ([UInt8](0x20..<0x7F), [UInt8]())
    let answers = [
      PrintableASCII.isAll(of: text.span), PrintableASCII.isAll(of: nothing.span),
      PrintableASCII.isAll(of: text.span, but: UInt8(ascii: "~")),
    ]
    #expect(answers == [true, true, false])
  }
}
