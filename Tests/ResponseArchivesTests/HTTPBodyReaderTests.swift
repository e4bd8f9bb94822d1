import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import ResponseArchives

@Suite struct HTTPBodyReaderTests {
  /// Reads a body in pieces of random lengths.
  private func body(
    _ data: [UInt8], _ fields: [(ByteString, ByteString)], seed: UInt64 = 0
  ) throws -> [UInt8] {
    var random = SplitMix64(seed: seed)
    var rest = data[...]
    let headers = HeaderFields(fields.map { .init(name: $0.0, value: $0.1) })
    let reader = try HTTPBodyReader(headers, limit: ByteCount(1 << 20)) {
      let piece = rest.prefix(Int.random(in: 1...7, using: &random))
      rest = rest.dropFirst(piece.count)
      return piece
    }
    var body: [UInt8] = []
    while true {
      var buffer = [UInt8](repeating: 0, count: Int.random(in: 1...9, using: &random))
      let count = try reader.read(into: &buffer)
      if count == 0 { return body }
      body += buffer[..<count]
    }
  }

  private func chunked(_ text: String, seed: UInt64 = 0) throws -> String {
    let fields: [(ByteString, ByteString)] = [("Transfer-Encoding", "Chunked")]
    return String(decoding: try body(Array(text.utf8), fields, seed: seed), as: UTF8.self)
  }

  @Test func `chunks are joined wherever the data is split`() throws {
    for seed in 0..<100 as Range<UInt64> {
      let text = "5\r\nhello\r\nC ; name=\"x\"\r\n chunked\r\nab\r\n000\r\nTrailer: x\r\n\r\n"
      #expect(try chunked(text, seed: seed) == "hello chunked\r\nab", "seed \(seed)")
    }
    #expect(try chunked("0\r\n\r\n") == "")
    #expect(try chunked("1\nx\n0\n\n") == "x")
  }

  @Test(arguments: [
    "", "x", "hello", "hello\r\nworld", "5", "5 hello", "\r\n\r\n", "-1\r\nx", "0x5\r\nhello",
  ])
  func `data that does not start with a chunk is passed on`(text: String) throws {
    #expect(try chunked(text) == text)
  }

  @Test(arguments: [
    ("5\r\nhel", "it ends in the middle of a chunk"), ("5\r\nhello", "its chunks are malformed"),
    ("5\r\nhello\r\n", "its chunks are malformed"), ("5\r\nhelloo\r\n", "its chunks are malformed"),
    ("5\r\nhello\r\nx", "its chunks are malformed"),
    ("5\r\nhello\r\n8000000000000000\r\n", "its chunks are malformed"),
    ("5\r\nhello\r\n-5\r\nhello\r\n", "its chunks are malformed"),
  ])
  func `broken chunks are an error`(text: String, fact: String) {
    let error = #expect(throws: HTTPBodyError.self) { try chunked(text) }
    // At the end of the data there is nothing left to be damaged.
    #expect(error?.description == fact)
  }

  @Test func `unknown codings cannot be decoded`() {
    for (coding, fact) in [
      ("compress", "its content coding 'compress' is not supported"),
      ("gzip, dcb", "its content coding 'dcb' is not supported"),
      ("gzip, gzip, gzip, gzip, gzip", "it has more than 4 content codings"),
      ("\u{1B}", "its content coding is not supported"),
    ] {
      let error = #expect(throws: HTTPBodyError.self) {
        try body([1, 2, 3], [("Content-Encoding", ByteString(coding))])
      }
      #expect(error?.description == fact)
    }
  }

  /// What the command `brotli` makes of `hello`, and zlib of nine of them, with and without its header.
  @Test func `codings are undone in the order in which they were applied`() throws {
    let brotli = [0x0B, 0x02, 0x80] + Array("hello".utf8) + [0x03]
    let zlib: [UInt8] = [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0xCF, 0x20, 0x92, 0x00, 0x00]
    let checksum: [UInt8] = [0xAD, 0xAB, 0x12, 0xB5]
    let hello = Array("hello".utf8)
    let hellos = Array(repeatElement(hello, count: 9).joined())
    for seed in 0..<20 as Range<UInt64> {
      #expect(try body(brotli, [("Content-Encoding", "BR")], seed: seed) == hello)
      for data in [zlib + checksum, Array(zlib.dropFirst(2))] {
        #expect(try body(data, [("Content-Encoding", "deflate")], seed: seed) == hellos)
      }
    }
    // Data in one of two codings, or in none of them, keeps the rest.
    #expect(try body(brotli, [("Content-Encoding", "gzip, br")]) == hello)
    #expect(try body(brotli, [("Content-Encoding", "br, gzip")]) == hello)
  }

  @Test func `data that is neither text nor in its coding is damaged if it should be text`() throws
  {
    for (coding, type) in [("br", "text/html"), ("deflate", "application/json; charset=utf-8")] {
      let coded = ("Content-Encoding" as ByteString, ByteString(coding))
      #expect(
        try body([0xFF, 0xFF, 3], [coded, ("Content-Type", "image/png")]) == [0xFF, 0xFF, 3])
      let error = #expect(throws: HTTPBodyError.self) {
        try body([0xFF, 0xFF, 3], [coded, ("Content-Type", ByteString(type))])
      }
      #expect(
        error?.description
          == "its content cannot be decoded: it is neither text nor '\(coding)' data")
    }
    let error = #expect(throws: HTTPBodyError.self) {
      try body([0x0B, 0x02, 0x80, 0x68], [("Content-Encoding", "br")])
    }
    #expect(error?.description == "its content cannot be decoded: it ends unexpectedly at byte 4")
  }

  @Test(arguments: [
    "identity", "gzip", "x-gzip", "zstd", "", "none, identity", "br", "deflate", "utf-8",
    "compress",
  ])
  func `uncoded data is passed on, whatever its field says`(coding: String) throws {
    let data = Array("hello".utf8)
    #expect(try body(data, [("content-encoding", ByteString(coding))]) == data)
    if !["br", "compress"].contains(coding) {
      #expect(try body([0x1F], [("content-encoding", ByteString(coding))]) == [0x1F])
    }
    #expect(try body([], [("content-encoding", ByteString(coding))]) == [])
  }

  @Test func `heads are parsed with the deviations of real ones`() throws {
    var lines = [
      "HTTP/1.0 404 \n", "A: 1\r\n", " more\r\n", "no field\r\n", ":status: 200\r\n", "b b: 2\r\n",
      "A:  3\u{0} \r\n", "\r\n", "body",
    ].map { Array($0.utf8) }
    lines.insert(Array("C: caf".utf8) + [0xE9, 0x0D, 0x0A], at: 3)
    var rest = lines[...]
    let head = try #require(HTTPMessageHead.read { _ in rest.removeFirst() })
    #expect(rest == [Array("body".utf8)])
    #expect(head.status == 404)
    let fields: [(ByteString, ByteString)] = [("A", "1 more"), ("C", "café"), ("A", "3 ")]
    #expect(head.headers.fields == fields.map { .init(name: $0.0, value: $0.1) })
    #expect(HTTPMessageHead(lines: [Array("GET / HTTP/1.1".utf8)]).method == "GET")
    for line in ["", "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 -20 OK", "X 200 OK"] {
      #expect(HTTPMessageHead(lines: [Array(line.utf8)]).status == nil, "\(line)")
    }
    #expect(HTTPMessageHead.read { Array(repeating: 0x61, count: $0) } == nil)
  }

  @Test(arguments: [
    ("a: b\r\n", "b"), ("a: b\n", "b"), ("a: b\r\r\n", "b "), ("a: b\r", "b"), ("a: b", "b"),
    ("a: b\r\r", "b "), ("a: b\rc", "b c"), ("a: \rb", " b"),
  ])
  func `only the ending of a line is removed, and the last line may have none`(
    line: String, value: ByteString
  ) throws {
    var rest = ["HTTP/1.1 200 OK\r\n", line, ""].map { Array($0.utf8) }[...]
    let head = try #require(HTTPMessageHead.read { _ in rest.removeFirst() })
    #expect(head.headers.fields == [.init(name: "a", value: value)])
  }
}
