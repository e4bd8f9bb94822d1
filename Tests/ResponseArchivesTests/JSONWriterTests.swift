import Bytes
import Foundation
import JSON
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct JSONWriterTests {
  private func json(_ write: (inout JSONWriter) -> Void) -> String {
    String(decoding: JSONWriter.bytes(.ascii, write), as: UTF8.self)
  }

  @Test func `every byte is written as text that other readers return, or as Base64`() throws {
    for length in [1, 7, 8, 9, 20] {
      for place in [0, length / 2, length - 1] {
        for byte in UInt8.min ... .max {
          var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          bytes[place] = byte
          let text = json { $0.array { $0.text(ByteString(bytes)) } }
          #expect(text.utf8.allSatisfy { 0x20...0x7E ~= $0 })
          let array = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any])
          if byte < 0x80 {
            #expect(array[0] as? String == String(decoding: bytes, as: UTF8.self))
          } else {
            let object = try #require(array[0] as? [String: String])
            #expect(object == ["text_b64": Data(bytes).base64EncodedString()])
          }
        }
      }
    }
  }

  @Test(arguments: [
    (-62_135_596_800, "0001-01-01T00:00:00", "000"), (-0.25, "1969-12-31T23:59:59", "750"),
    (0, "1970-01-01T00:00:00", "000"), (1_709_210_096.5, "2024-02-29T12:34:56", "500"),
    (253_402_300_799.75, "9999-12-31T23:59:59", "750"),
  ])
  func `a time is written with seconds or milliseconds`(
    seconds: Double, time: String, milliseconds: String
  ) throws {
    let moment = try #require(Timestamp(secondsSince1970: seconds))
    #expect(json { $0.time(moment) } == "\"\(time)Z\"")
    let member = json { $0.member("a", toMilliseconds: moment) }
    #expect(member == #""a":"\#(time).\#(milliseconds)Z""#)
  }
}
