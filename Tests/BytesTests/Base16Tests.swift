import Bytes
import Testing

@Suite struct Base16Tests {
  @Test func `every byte is encoded in both cases and decoded again`() {
    let bytes = Array(UInt8.min ... .max)
    for (letters, format) in [(Base16.Letters.small, false), (.capital, true)] {
      let text = Base16.encode(bytes, letters)
      let expected = bytes.map { byte in
        let digits = String(byte, radix: 16, uppercase: format)
        return digits.utf8.count < 2 ? "0" + digits : digits
      }
      #expect(String(decoding: text, as: UTF8.self) == expected.joined())
      #expect(Base16.decode(text) == bytes)
    }
    #expect(Base16.encode([]) == [])
    #expect(Base16.decode([]) == [])
  }

  @Test func `digits match the standard library`() {
    for byte in UInt8.min ... .max {
      // The standard library also accepts a sign.
      let expected = byte < 0x80 ? UInt8(String(Unicode.Scalar(byte)), radix: 16) : nil
      #expect(Base16.value(of: byte) == expected)
    }
  }

  @Test(arguments: ["0", "0g", "g0", " 0", "0x", "00 ", "-1", "+1", "é"])
  func `anything but pairs of digits is refused`(text: String) {
    #expect(Base16.decode(Array(text.utf8)) == nil)
  }

  @Test func `a UUID has its dashes`() {
    let bytes: [UInt8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF] + Array(0xF0...0xF7)
    let small = String(decoding: Base16.uuid(bytes), as: UTF8.self)
    #expect(small == "01234567-89ab-cdef-f0f1-f2f3f4f5f6f7")
    #expect(Base16.uuid(bytes, .capital) == Array(small.uppercased().utf8))
  }
}
