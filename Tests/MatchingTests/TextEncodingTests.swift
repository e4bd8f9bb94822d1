import Bytes
import Matching
import Testing

@Suite struct TextEncodingTests {
  /// Returns the text in UTF-8, decoded in two pieces.
  private func decoded(_ bytes: [UInt8], _ encoding: TextEncoding, splitAt place: Int) -> [UInt8] {
    var decoder = TextDecoder(encoding)
    var output: [UInt8] = []
    decoder.decode(bytes[..<place], into: &output)
    decoder.decode(bytes[place...], into: &output)
    decoder.finish(into: &output)
    return output
  }

  private static let text = "a\u{e9}\u{20AC}\n\u{1F600}z"

  /// Returns the code units of a text in bytes.
  private static func bytes(
    _ units: some Sequence<some FixedWidthInteger>, isBigEndian: Bool
  ) -> [UInt8] {
    units.flatMap { unit in
      let bytes = (0..<(unit.bitWidth / 8)).map { UInt8(truncatingIfNeeded: unit >> ($0 * 8)) }
      return isBigEndian ? bytes.reversed() : bytes
    }
  }

  @Test(arguments: [false, true], [false, true])
  func `text is the same wherever pieces end`(_ isBigEndian: Bool, _ hasMark: Bool) {
    let text = (hasMark ? "\u{FEFF}" : "") + Self.text
    let forms: [(TextEncoding, [UInt8])] = [
      (.utf8, Array(text.utf8)),
      (.utf16(isBigEndian: isBigEndian), Self.bytes(text.utf16, isBigEndian: isBigEndian)),
      (
        .utf32(isBigEndian: isBigEndian),
        Self.bytes(text.unicodeScalars.map(\.value), isBigEndian: isBigEndian)
      ),
    ]
    for (encoding, bytes) in forms {
      for place in 0...bytes.count {
        #expect(
          decoded(bytes, encoding, splitAt: place) == Array(Self.text.utf8), "\(encoding) \(place)")
      }
      #expect(TextEncoding(ofTextBeginningWith: bytes[...]) == (hasMark ? encoding : nil))
    }
  }

  @Test func `Windows-1252 has its own characters`() {
    #expect(
      decoded([0x41, 0xE9, 0x80, 0x9F, 0x81, 0xFF], .windows1252, splitAt: 3)
        == Array("A\u{e9}\u{20AC}\u{178}\u{81}\u{FF}".utf8))
    #expect(decoded([0], .windows1252, splitAt: 0) == [0])
  }

  @Test func `invalid units become U+FFFD`() {
    let replacement = Array("\u{FFFD}".utf8)
    let utf16 = TextEncoding.utf16(isBigEndian: true)
    #expect(decoded([0xD8, 0], utf16, splitAt: 1) == replacement)
    #expect(decoded([0xDC, 0, 0, 0x41], utf16, splitAt: 1) == replacement + [0x41])
    #expect(decoded([0xD8, 0, 0, 0x41], utf16, splitAt: 2) == replacement + [0x41])
    #expect(decoded([0, 0x41, 0], utf16, splitAt: 0) == [0x41] + replacement)
    #expect(decoded([0, 0x11, 0, 0], .utf32(isBigEndian: true), splitAt: 2) == replacement)
    #expect(decoded([0xEF, 0xBB], .utf8, splitAt: 1) == [0xEF, 0xBB])
  }

  @Test func `names are found in any case`() {
    #expect(TextEncoding(named: "UTF-8") == .utf8)
    #expect(TextEncoding(named: "ISO-8859-1") == .windows1252)
    #expect(TextEncoding(named: "Utf-16BE") == .utf16(isBigEndian: true))
    #expect(TextEncoding(named: "shift_jis") == nil)
    #expect(TextEncoding(named: ByteString([0xFF])) == nil)
  }
}
