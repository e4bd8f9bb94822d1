import Bytes
import ResponseStorage
import Testing

@testable import ResponseArchives

/// Tests that text and Base64 in pieces give the same result as in one piece.
@Suite struct TextPieceTests {
  private static let scalars: [Unicode.Scalar] = [
    "a", "\n", "é", "€", "😀", "\u{FFFF}", "\u{10FFFF}",
  ]

  /// Splits bytes into pieces of random lengths, some of them empty.
  private func pieces(
    of bytes: [UInt8], _ generator: inout some RandomNumberGenerator
  ) -> [ArraySlice<UInt8>] {
    var result: [ArraySlice<UInt8>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      result.append(rest.prefix(.random(in: 0...5, using: &generator)))
      rest = rest.dropFirst(result.last?.count ?? 0)
    }
    return result
  }

  @Test func `text is split between scalar values`() {
    var generator = SeededGenerator(state: 7)
    for _ in 0..<500 {
      var text = ""
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        text.unicodeScalars.append(Self.scalars.randomElement(using: &generator) ?? "a")
      }
      var (boundary, check) = (ScalarBoundary(), UTF8Check())
      var joined: [UInt8] = []
      for piece in pieces(of: Array(text.utf8), &generator) {
        let cut = boundary.cut(piece)
        #expect(String(validating: cut, as: UTF8.self) != nil, "\(text.utf8)")
        joined += cut
        check.append(piece)
      }
      let rest = boundary.finish()
      #expect(rest.isEmpty && joined == Array(text.utf8))
      let isRight = check.finish()
      #expect(isRight)
    }
  }

  @Test func `invalid UTF-8 is detected however it is split`() {
    var generator = SeededGenerator(state: 7)
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        [0x41, 0x80, 0xBF, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0xF0, 0x9F, 0xFF]
          .randomElement(using: &generator)
          ?? UInt8(0)
      }
      var check = UTF8Check()
      for piece in pieces(of: bytes, &generator) { check.append(piece) }
      let isRight = check.finish()
      #expect(isRight == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
    }
  }

  @Test func `Base64 is the same in pieces`() {
    var generator = SeededGenerator(state: 7)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var encoder = Base64.Encoder()
      var text: [UInt8] = []
      for piece in pieces(of: bytes, &generator) { text += encoder.encode(piece) }
      text += encoder.finish()
      #expect(text == Base64.encode(bytes))
      var decoder = Base64.Decoder()
      var decoded: [UInt8] = []
      var isBase64 = true
      for piece in pieces(of: text, &generator) {
        isBase64 = isBase64 && decoder.decode(Array(piece), into: &decoded)
      }
      let hasEnd = decoder.finish(into: &decoded)
      #expect(isBase64 && hasEnd && decoded == bytes, "\(bytes)")
    }
  }
}

/// A random number generator with the same sequence in every run: linear congruential, of which the upper bits are
/// used.
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 31
  }
}
