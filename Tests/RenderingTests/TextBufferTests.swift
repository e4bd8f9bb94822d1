import Testing

@testable import Rendering

@Suite struct TextBufferTests {
  @Test func `integers are written as Swift writes them`() {
    var values: [Int64] = [.min, .min + 1, .max, 0, 7, 10, 99, 100, 101, 12_345, -1, -10, -100]
    var power: Int64 = 1
    while power < 1_000_000_000_000_000_000 {
      power *= 10
      values += [power - 1, power, power + 1, -power]
    }
    for value in values {
      var buffer = TextBuffer()
      buffer.append(integer: value)
      #expect(buffer.bytes == Array("\(value)".utf8))
    }
  }
}
