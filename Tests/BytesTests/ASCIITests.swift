import Bytes
import Testing

@Suite struct ASCIITests {
  @Test func `ASCII uppercase is lowercased, and nothing else changes`() {
    for byte in UInt8.min ... .max {
      let expected = byte < 0x80 ? Array(String(Unicode.Scalar(byte)).lowercased().utf8) : [byte]
      #expect([byte.asciiLowercased] == expected)
    }
    #expect(("ÄbC" as ByteString).asciiLowercased == "Äbc")
    #expect(("ÄbC" as ByteString).equalsIgnoringASCIICase("ÄBc"))
    #expect(!("Ä" as ByteString).equalsIgnoringASCIICase("ä"))
    #expect(!("a" as ByteString).equalsIgnoringASCIICase("ab"))
  }

  @Test func `tokens contain the characters that RFC 9110 lists`() {
    let marks = "!#$%&'*+-.^_`|~"
    for byte in UInt8.min ... .max {
      let scalar = Unicode.Scalar(byte)
      let isAlphanumeric =
        "a"..."z" ~= scalar || "A"..."Z" ~= scalar || "0"..."9" ~= scalar
      #expect(byte.isTokenCharacter == (isAlphanumeric || marks.unicodeScalars.contains(scalar)))
    }
    #expect("PROPFIND".utf8.isToken)
    #expect(!"".utf8.isToken)
    #expect(!"a b".utf8.isToken)
    #expect(![0x61, 0xE4].isToken)
  }

  @Test func `digits, letters and blanks are ASCII only`() {
    let bytes = Array(UInt8.min ... .max)
    #expect(bytes.filter(\.isASCIIDigit) == Array("0123456789".utf8))
    #expect(bytes.filter(\.isBlank) == Array("\t ".utf8))
    #expect(
      bytes.filter(\.isASCIILetter)
        == Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8))
  }

  @Test func `blanks are trimmed at both ends`() {
    #expect(" \t a \t b\t ".utf8.trimmingBlanks.elementsEqual("a \t b".utf8))
    #expect(Array(" \r\n".utf8).trimmingBlanks.elementsEqual("\r\n".utf8))
    #expect(Array(" \t".utf8).trimmingBlanks.isEmpty)
    #expect([UInt8]().trimmingBlanks.isEmpty)
  }
}
