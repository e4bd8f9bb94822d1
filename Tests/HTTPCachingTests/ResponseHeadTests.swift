import HTTPCaching
import Testing

@Suite struct ResponseHeadTests {
  @Test(
    arguments: [
      (
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nX:  b \r\n\r\nbody: x\r\n", 200, ["ETag: \"a\"", "X: b"]
      ),
      ("HTTP/2 204\nA: 1\n", 204, ["A: 1"]), ("HTTP/3 404 ", 404, []),
      ("HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n", 200, ["A: 1"]),
      ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", 200, ["A: 1"]),
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n", 200, ["A: 1"]),
      ("HTTP/1.1 200 OK\nA: 1\n\t2\nB:\n\n", 200, ["A: 1 2", "B: "]),
      ("HTTP/1.1 200 OK\nA: b:c\n\nno head\n\nHTTP/1.1 500 X\n\n", 200, ["A: b:c"]),
    ] as [(String, Int64, [String])])
  func `the last final head counts`(_ text: String, _ status: Int64, _ lines: [String]) throws {
    let head = try #require(ResponseHead(Array(text.utf8)))
    #expect(head.status == status)
    #expect(
      head.fields.lines.map { line in
        String(decoding: line.name, as: UTF8.self) + ": "
          + String(decoding: line.value, as: UTF8.self)
      } == lines)
  }

  @Test(arguments: [
    "", "\n", "ETag: a\n", "HTTP/1.1\nA: 1\n", "HTTP/1.1 2xx OK\n", "HTTP/1.1 200 OK\nno colon\n",
    "HTTP/1.1 200 OK\na b: c\n", "HTTP/1.1 1200 OK\n", "<html>", "HTTP/1.1 200 OK\n : x\n",
  ])
  func `an invalid head is refused`(_ text: String) {
    #expect(ResponseHead(Array(text.utf8)) == nil)
  }
}
