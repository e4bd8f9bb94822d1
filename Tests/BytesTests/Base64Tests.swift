import Bytes
import Foundation
import Testing

@Suite struct Base64Tests {
  /// Random bytes of each length.
  private static let texts = (0..<40).map { length in
    (0..<length).map { UInt8(truncatingIfNeeded: ($0 + 1) * (length + 7) * 0x9D) }
  }

  @Test func `encoding and decoding match Foundation`() {
    for bytes in Self.texts {
      let text = Array(Data(bytes).base64EncodedData())
      #expect(Base64.encode(bytes) == text)
      #expect(Base64.decode(text) == bytes)
    }
  }

  @Test func `white space is ignored everywhere`() {
    for bytes in Self.texts {
      let text = Base64.encode(bytes)
      for place in 0...text.count {
        for blank in [" ", "\r\n", "\t \n  "] {
          let spaced = text[..<place] + Array(blank.utf8) + text[place...]
          #expect(Base64.decode(Array(spaced)) == bytes, "\(bytes) with a blank at \(place)")
        }
      }
    }
  }

  @Test func `an invalid byte is found at each position`() {
    let text = Base64.encode(Self.texts[33])
    for place in text.indices {
      for byte in [0x00, 0x2C, 0x5F, 0x7F, 0x80, 0xFF] as [UInt8] {
        var broken = text
        broken[place] = byte
        #expect(Base64.decode(broken) == nil, "\(byte) at \(place)")
      }
    }
  }

  @Test func `text is measured as it is decoded`() {
    var state = 1 as UInt64
    let bytes = Array("ABxyz059+/= \n-_\u{80}".utf8)
    for length in 0..<400 {
      // Mostly digits, so that most texts are Base64.
      let text = (0..<length).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let digit = Int(state >> 33) % [10, 12, 60][length % 3]
        return digit < 10 ? bytes[digit] : bytes[min(digit - 1, 9 + digit % 8)]
      }
      for split in [0, length / 3, length] {
        var measure = Base64.Measure()
        let isBase64 = measure.add(Array(text[..<split])) && measure.add(Array(text[split...]))
        let count = isBase64 ? measure.count.map { Int($0) } : nil
        #expect(count == Base64.decode(text)?.count, "\(length), \(split)")
      }
    }
    for text in ["QQ==", "QQ==QUJD", "QUJDQ", "QUJDQUJDQUJDQU=", "QUJD QUJDQUJDQU \n=", "=", ""] {
      var measure = Base64.Measure()
      let count = measure.add(Array(text.utf8)) ? measure.count.map { Int($0) } : nil
      #expect(count == Base64.decode(Array(text.utf8))?.count, "\(text)")
    }
  }

  @Test func `nothing follows the padding`() {
    #expect(Base64.decode(Array("QQ==".utf8)) == [0x41])
    #expect(Base64.decode(Array("QQ==QUJD".utf8)) == nil)
    #expect(Base64.decode(Array("QUJD=QUJD".utf8)) == nil)
    #expect(Base64.decode(Array("QUJDQ".utf8)) == nil)
  }
}
