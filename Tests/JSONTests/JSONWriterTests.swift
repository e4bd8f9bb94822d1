import Bytes
import JSON
import Testing

@Suite struct JSONWriterTests {
  private let hiding = JSONEscaping(capitals: true) { $0 == "\u{202E}" || $0 == "\u{E0001}" }

  private func text(
    _ escaping: JSONEscaping = .ascii, _ body: (inout JSONWriter) -> Void
  ) -> String {
    var bytes: [UInt8] = []
    JSONWriter.append(to: &bytes, escaping, body)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `commas separate members and values at each depth`() {
    let text = text {
      $0.object {
        $0.member("a", 1)
        $0.object("b") { $0.array("c") { _ in } }
        $0.array("d") {
          $0.value(1)
          $0.array { $0.value(2) }
          $0.object { _ in }
          $0.value("3")
        }
        $0.array("e", objects: [4, 5]) { $0.member("f", $1) }
        $0.member("g", [true, false])
      }
      $0.endLine()
      $0.value("h")
    }
    #expect(
      text == """
        {"a":1,"b":{"c":[]},"d":[1,[2],{},"3"],"e":[{"f":4},{"f":5}],"g":[true,false]}
        "h"
        """)
  }

  @Test func `lines start with values, and no line is empty`() {
    let text = text {
      $0.object {
        $0.array("a", .lines, objects: [1, 2]) {
          $0.array("b", objects: [$1]) { $0.member("c", $1) }
        }
        $0.array("d", .lines, objects: [Int]()) { $0.member("e", $1) }
        $0.object("f", .lines) {
          $0.member("g", 1)
          $0.member("h", 2)
        }
      }
    }
    #expect(
      text == """
        {"a":[
        {"b":[{"c":1}]},
        {"b":[{"c":2}]}
        ],"d":[],"f":{
        "g":1,
        "h":2
        }}
        """)
  }

  @Test func `each kind of value is written`() {
    let text = text {
      $0.array {
        $0.value(Int64.min)
        $0.value(Int64.max)
        $0.value(0)
        $0.value(10)
        $0.value(100)
        $0.value(ByteCount(1 << 40))
        $0.value(0.5)
        $0.value(Double.nan)
        $0.value(String?.none)
        $0.value(String?.some("a"))
        $0.null()
        $0.written(Array("1,2".utf8))
        $0.value(true)
      }
    }
    #expect(
      text
        == "[-9223372036854775808,9223372036854775807,0,10,100,1099511627776,0.5,null,null,\"a\",null,1,2,true]"
    )
  }

  @Test func `a string is escaped as requested`() {
    let hostile = "\u{0}\u{1F}\u{7F}\"\\\n\r\t/\u{301}é\u{202E}\u{E0001}😀"
    let ascii =
      #""\u0000\u001f\u007f\"\\\n\r\t/\u0301\u00e9\u202e\udb40\udc01\ud83d\ude00""#
    let shown = "\"\\u0000\\u001F\u{7F}\\\"\\\\\\n\\r\\t/\u{301}é\\u202E\\uDB40\\uDC01😀\""
    #expect(text { $0.value(hostile) } == ascii)
    #expect(text { _ = $0.string(utf8: Array(hostile.utf8)) } == ascii)
    #expect(Array(text(hiding) { $0.value(hostile) }.utf8) == Array(shown.utf8))
  }

  @Test(
    arguments: [
      [0xFF], [0x61, 0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
      [0x22, 0x80],
    ] as [[UInt8]])
  func `bytes that are not UTF-8 go into a separate member`(_ hostile: [UInt8]) {
    let text = text {
      $0.object {
        $0.member("z", 0)
        let isName = $0.key(utf8: hostile)
        #expect(!isName)
        $0.member("a", utf8OrBase64: hostile)
        $0.member("b", utf8OrBase64: nil)
        $0.member("c", utf8OrBase64: Array("d".utf8))
      }
    }
    let encoded = self.text { $0.base64(hostile) }
    #expect(text == #"{"z":0,"a":null,"a_base64":\#(encoded),"b":null,"c":"d"}"#)
  }

  @Test func `Base64 is padded`() {
    let text = text { json in
      json.array { json in
        for length in 0..<4 { json.base64([UInt8](repeating: 0xFB, count: length)) }
      }
    }
    #expect(text == #"["","+w==","+/s=","+/v7"]"#)
  }

  @Test func `names are written raw, escaped, or preformatted`() {
    let names = JSONNames(.ascii, ["a", "é"]) { $0.key(named: $1) }
    func write(_ json: inout JSONWriter) {
      json.key(names, at: 0)
      json.value(1)
      _ = json.key(utf8: [0x22])
      json.value(2)
      json.key(names, at: 1)
      json.base64([0xFF], inPlaceOf: names, at: 1)
      json.key("b")
      json.base64([0xFF], inPlaceOf: "b")
      json.key(repairing: [0x61, 0xFF])
      json.null()
      json.null("c")
    }
    let members =
      #""a":1,"\"":2,"\u00e9":null,"\u00e9_base64":"/w==","b":null,"b_base64":"/w==","a\ufffd":null,"c":null"#
    #expect(text { $0.object { write(&$0) } } == "{\(members)}")
    #expect(
      text { $0.object(.lines) { write(&$0) } }
        == "{\n\(members.split(separator: ",").joined(separator: ",\n"))\n}")
  }

  @Test func `a string is written whole, in pieces, or with repaired UTF-8`() {
    let text = text {
      $0.array { json in
        json.string(repairing: [0x61, 0xFF])
        json.string { json in
          json.characters(Array("a\"".utf8))
          json.characters([0xFF, 0x62])
          json.characters(Array("é".utf8))
        }
        json.word("c")
        json.word("d", "e")
        json.value(Timestamp.epoch)
      }
    }
    #expect(text == #"["a\ufffd","a\"\ufffdb\u00e9","c","de","1970-01-01T00:00:00Z"]"#)
  }

  @Test func `written bytes can be taken before the end`() {
    var taken: [UInt8] = []
    let rest = JSONWriter.bytes(.ascii) { json in
      json.array { json in
        json.value(1)
        taken = json.drain()
        json.value(2)
      }
    }
    #expect(taken == Array("[1".utf8))
    #expect(rest == Array(",2]".utf8))
  }

  @Test func `a line can start inside a single-line array`() {
    let text = text { json in
      json.array { json in
        json.value(1)
        json.breakLine()
        json.value(2)
        json.value(3)
      }
    }
    #expect(text == "[1,\n2,3]")
  }

  @Test func `previous contents of the array are kept`() {
    struct Stop: Error {}
    var bytes = Array("a".utf8)
    JSONWriter.append(to: &bytes, .ascii) { $0.value(1) }
    #expect(throws: Stop.self) {
      try JSONWriter.append(to: &bytes, .ascii) { json throws(Stop) in
        json.value(2)
        throw Stop()
      }
    }
    #expect(bytes == Array("a12".utf8))
  }
}

@Suite struct JSONStreamTests {
  private func text(of values: [Int]) -> String {
    var (text, bytes) = ("", [UInt8]())
    func flush() {
      text += String(decoding: bytes, as: UTF8.self)
      bytes = []
    }
    var json = JSONStream(.ascii)
    json.begin("a", in: &bytes) { $0.member("b", 0) }
    for value in values {
      flush()
      json.append(to: &bytes) { $0.object { $0.member("c", value) } }
    }
    #expect(json.isEmpty == values.isEmpty)
    flush()
    json.endArray(in: &bytes) { $0.member("d", 1) }
    flush()
    json.end(in: &bytes) { $0.member("e", 2) }
    flush()
    return text
  }

  @Test func `an object does not depend on interruptions`() {
    #expect(text(of: []) == "{\"b\":0,\"a\":[],\"d\":1,\"e\":2}\n")
    #expect(text(of: [1]) == "{\"b\":0,\"a\":[\n{\"c\":1}\n],\"d\":1,\"e\":2}\n")
    #expect(text(of: [1, 2]) == "{\"b\":0,\"a\":[\n{\"c\":1},\n{\"c\":2}\n],\"d\":1,\"e\":2}\n")
  }

  @Test func `an open array is closed with its object`() {
    var bytes: [UInt8] = []
    var json = JSONStream(.ascii, .inLine)
    json.begin("a", in: &bytes) { _ in }
    json.append(to: &bytes) { $0.value(1) }
    json.append(to: &bytes) { $0.value(2) }
    json.end(in: &bytes)
    #expect(bytes == Array("{\"a\":[1,2]}\n".utf8))
  }

  @Test func `a document can be an array, or an object in another`() {
    for values in [[], [1], [1, 2]] as [[Int]] {
      var bytes: [UInt8] = []
      var json = JSONStream(.ascii)
      json.begin(in: &bytes)
      for value in values { json.append(to: &bytes) { $0.value(value) } }
      json.end(in: &bytes)
      let inside = values.map { "\n\($0)" }.joined(separator: ",") + (values.isEmpty ? "" : "\n")
      #expect(String(decoding: bytes, as: UTF8.self) == "[\(inside)]\n")

      bytes = []
      json = JSONStream(.ascii)
      json.begin("a", within: "b", in: &bytes) { $0.member("c", 0) }
      for value in values { json.append(to: &bytes) { $0.value(value) } }
      json.end(in: &bytes) { $0.member("d", 1) }
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == #"{"b":{"c":0,"a":[\#(inside)],"d":1}}"# + "\n")
    }
  }

  @Test func `separately written parts form one array`() {
    var bytes: [UInt8] = []
    var json = JSONStream(.ascii)
    json.begin("a", in: &bytes) { _ in }
    var parts = [json.split(), json.split()]
    #expect(!json.isEmpty)
    json.end(in: &bytes)
    let texts = parts.indices.map { index in
      var text: [UInt8] = []
      parts[index].append(to: &text) { $0.value(index) }
      parts[index].append(to: &text) { $0.value(index) }
      return String(decoding: text, as: UTF8.self)
    }
    #expect(texts == ["\n0,\n0", ",\n1,\n1"])
    #expect(bytes == Array("{\"a\":[\n]}\n".utf8))
  }
}
