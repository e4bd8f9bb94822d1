import Bytes
import JSON
import ResponseStorage
import Testing

@testable import Rendering

@Suite struct TextBufferTests {
  @Test func `a name that is not UTF-8 is written as Base64`() {
    let names: [ByteString] = [ByteString([0xED, 0xA0, 0x80]), "a\"b"]
    let properties = names.map { StoredResponse.Property(key: $0, value: .integer(1)) }
    var buffer = TextBuffer()
    buffer.writeJSON { $0.properties(properties) }
    #expect(
      String(decoding: buffer.bytes, as: UTF8.self)
        == #"{"base64:7aCA":1,"a\"b":1}"#)
  }

  @Test func `integers are written like in Swift`() {
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
