import HTTPCaching
import Testing

@Suite struct ReceivedBodyTests {
  @Test(
    arguments: [
      ("bytes 0-499/1234", 0, 499, 1_234, 500), ("BYTES 500-1233/1234", 500, 1_233, 1_234, 734),
      ("bytes 7-7/8", 7, 7, 8, 1), ("bytes 1-2/*", 1, 2, nil, 2),
      ("bytes 0-9223372036854775807/*", 0, .max, nil, .max),
    ] as [(String, Int64, Int64, Int64?, Int64)])
  func `a range has a first byte, a last byte and a complete length`(
    _ text: String, _ first: Int64, _ last: Int64, _ whole: Int64?, _ length: Int64
  ) throws {
    let range = try #require(ContentRange(Array(text.utf8)))
    #expect(
      [range.first, range.last, range.completeLength, range.length] == [first, last, whole, length])
  }

  @Test(
    arguments: [
      "", "bytes", "bytes ", "bytes 0-4", "bytes 0-4/", "bytes 0-4/5/6", "bytes */5", "bytes -4/5",
      "bytes 0-/5", "bytes 4-3/9", "bytes 0-5/5", "bytes 0-4/x", "bytes 0-4/**", "bytes  0-4/5",
      "bytes 0 - 4/5", "bytes=0-4/5", "lines 0-4/5", "bytes 0-4/5, bytes 0-4/5", "bytes +0-4/5",
      "bytes 0-99999999999999999999/*", "bytes 0-4/99999999999999999999", "bytes 0-4/5 ",
    ])
  func `invalid ranges are ignored`(_ text: String) {
    #expect(ContentRange(Array(text.utf8)) == nil)
  }

  @Test func `two Content-Range lines are not a range`() {
    let line = "Content-Range: bytes 0-4/5"
    #expect(ContentRange(Sample.fields(line)) != nil)
    #expect(ContentRange(Sample.fields(line, line)) == nil)
    #expect(ContentRange(Sample.fields()) == nil)
  }

  @Test(
    arguments: [
      (["Content-Length: 1000"], 200, 0, 0, 1_000, 0),
      (["Content-Length: 1000"], 200, 9, 9, 1_000, 0),
      (["Content-Length: 1000"], 200, 10, 10, 1_000, 1),
      (["Content-Length: 1000"], 404, 999, 999, 1_000, 99),
      (["Content-Length: 1000"], 200, 1_000, 1_000, 1_000, 100),
      (["Content-Length: 1000"], 200, 1_999, 1_999, 1_000, 199),
      (["Content-Length: 0"], 200, 0, 0, 0, 100), (["Content-Length: 0"], 200, 9, 9, 0, 100),
      // Dividing first would give 28.999999999999996.
      (["Content-Length: 100"], 200, 29, 29, 100, 29),
      (
        ["Content-Length: 9223372036854775807"], 200, .max - 1, .max - 1,
        .max, 99
      ),
      (["Content-Length: 1"], 200, .max, .max, 1, 9_000_000_000_000_000_000),
      (["Content-Range: bytes 0-499/2000"], 206, 500, 500, 2_000, 25),
      (["Content-Range: bytes 0-499/2000"], 206, 100, 100, 2_000, 5),
      (["Content-Range: bytes 1500-1999/2000", "Content-Length: 500"], 206, 500, 500, 2_000, 25),
    ] as [([String], Int64, Int64, Int64, Int64, Int64)])
  func `the stored size is compared with the announced size`(
    _ lines: [String], _ status: Int64, _ stored: Int64, _ bytes: Int64, _ announced: Int64,
    _ percent: Int64
  ) throws {
    let exchange = Exchange(
      request: Request(), status: status, fields: Sample.fields(lines), responseTime: Sample.now,
      bodyBytes: stored)
    let body = try #require(ReceivedBody(of: exchange))
    #expect(
      [body.bytes, body.announced, body.wholePercent] == [bytes, announced, percent], "\(lines)")
    #expect((body.percent < 100) == (bytes < announced))
  }

  @Test func `the percentage stays below 100 while a byte is missing`() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<10_000 {
      let announced = Int64.random(in: 1...(1 << Int64.random(in: 1...62)), using: &random)
      let stored = Int64.random(in: max(0, announced - 3)...announced + 3, using: &random)
      let exchange = Sample.response("Content-Length: \(announced)", bodyBytes: stored)
      let body = ReceivedBody(of: exchange)
      #expect(((body?.percent ?? 0) < 100) == (stored < announced), "\(stored) of \(announced)")
      #expect(
        ((body?.wholePercent ?? 0) < 100) == (stored < announced), "\(stored) of \(announced)")
    }
  }

  @Test func `lengths that do not describe the stored bytes are not compared`() {
    for (lines, status, stored) in [
      ([], 200, 5), (["Content-Length: 9"], 200, nil), (["Content-Length: nine"], 200, 5),
      (["Content-Length: 9", "Content-Encoding: gzip"], 200, 5), (["Content-Length: 9"], nil, 5),
      (["Content-Length: 9"], 204, 0), (["Content-Length: 9"], 304, 0),
      (["Content-Length: 9"], 206, 9),
      (["Content-Range: bytes 0-4/*"], 206, 5),
      (["Content-Range: bytes 0-4/9", "Content-Encoding: br"], 206, 5),
    ] as [([String], Int64?, Int64?)] {
      let exchange = Exchange(
        request: Request(), status: status, fields: Sample.fields(lines),
        responseTime: Sample.now, bodyBytes: stored)
      #expect(ReceivedBody(of: exchange) == nil, "\(lines) \(status ?? 0)")
    }
    let head = Request(method: Request.head)
    let exchange = Sample.response("Content-Length: 9", request: head, bodyBytes: 0)
    #expect(ReceivedBody(of: exchange) == nil)
  }

  @Test func `only a 200 or an uncoded 206 can be completed`() {
    for status in [201, 203, 404, 500] as [Int64] {
      let exchange = Sample.response("Content-Length: 9", status: status, bodyBytes: 5)
      #expect(StoredBody(of: exchange) == .fragment, "\(status)")
    }
    let coded = ["Content-Encoding: gzip", "ETag: \"a\""]
    for (range, expected) in [
      ("bytes 0-4/9", StoredBody.fragment), ("bytes 0-4/5", .complete), ("bytes 0-4/*", .fragment),
    ] {
      let exchange = Exchange(
        request: Request(), status: 206, fields: Sample.fields(coded + ["Content-Range: \(range)"]),
        responseTime: Sample.now, bodyBytes: 5)
      #expect(StoredBody(of: exchange) == expected, "\(range)")
    }
  }
}
