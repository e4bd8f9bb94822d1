import Bytes
import Testing

@Suite struct UTF8ScalarTests {
  @Test func `every scalar is decoded`() {
    for value in UInt32.min...0x11_0000 {
      guard let scalar = Unicode.Scalar(value), value < 0x800 || value % 7 == 0 else { continue }
      let bytes = [0x80] + Array(String(scalar).utf8) + [0x80]
      let found = bytes.scalar(at: 1)
      #expect(found.scalar == scalar && found.length == bytes.count - 2)
    }
  }

  @Test func `random bytes are split like in the standard library, except for broken scalars`() {
    var generator = Generator(state: 7)
    let likely: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xED,
      0xEF,
      0xF0, 0xF4, 0xF5, 0xFF,
    ]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
        likely.randomElement(using: &generator) ?? 0
      }
      var (index, scalars, isWhole) = (0, [] as [Unicode.Scalar], true)
      while index < bytes.count {
        let (scalar, length) = bytes.scalar(at: index)
        let slice = bytes[index...].scalar(at: index)
        #expect(slice.scalar == scalar && slice.length == length)
        if let scalar { scalars.append(scalar) } else { isWhole = false }
        index += length
      }
      let string = String(validating: bytes, as: UTF8.self)
      #expect(isWhole == (string != nil), "\(bytes)")
      if let string { #expect(Array(string.unicodeScalars) == scalars, "\(bytes)") }
    }
  }
}

/// A random number generator with the same sequence in every run: SplitMix64.
struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
