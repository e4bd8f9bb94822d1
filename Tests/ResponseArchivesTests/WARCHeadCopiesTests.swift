import Bytes
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct WARCHeadCopiesTests {
  private static let count = 100

  /// A file of many responses, some with their requests before them and some after, and some revisits.
  private static let file: [UInt8] = {
    var text = ""
    func add(_ type: String, _ id: String, _ fields: String, _ block: String) {
      text += """
        WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Record-ID: <urn:x:\(id)>\r
        WARC-Date: 2024-01-01T00:00:00Z\r\n\(fields)Content-Length: \(block.utf8.count)\r\n\r
        \(block)\r\n\r\n
        """
    }
    for number in 0..<count {
      let http = "Content-Type: application/http\r\n"
      let target = "WARC-Target-URI: http://example.com/\(number)\r\n"
      func addRequest() {
        add(
          "request", "q\(number)", target + http + "WARC-Concurrent-To: <urn:x:r\(number)>\r\n",
          "POST / HTTP/1.1\r\nX-Number: \(number)\r\n\r\nbody \(number)")
      }
      if number.isMultiple(of: 2) { addRequest() }
      if number % 5 == 4 {
        add(
          "revisit", "r\(number)", target + http + "WARC-Refers-To: <urn:x:r\(number - 1)>\r\n",
          "HTTP/1.1 304 Not Modified\r\n\r\n")
      } else {
        let body = String(repeating: "\(number) ", count: number % 3 == 0 ? 40_000 : number)
        add(
          "response", "r\(number)", target + http,
          "HTTP/1.1 200 OK\r\nX-Number: \(number)\r\nX-Long: \(body.prefix(500))\r\n\r\n\(body)")
      }
      if !number.isMultiple(of: 2) { addRequest() }
    }
    return Array(text.utf8)
  }()

  /// Reads the entries without their bodies, and then the bodies.
  private func entries(_ folder: String) throws -> [[String]] {
    let bytes = Self.file
    let file = FileBytes(size: { ByteCount(bytes.count) }) { buffer, offset in
      let piece = bytes.dropFirst(Int(offset)).prefix(buffer.count)
      buffer.replaceSubrange(0..<piece.count, with: piece)
      return piece.count
    }
    let entries = try WARCEntries(
      file, limits: ArchiveLimits(), path: "file", copyingHeadsTo: folder)
    var found: [[String]] = []
    try entries.forEach(readsBodies: false) { raw in
      let response = StoredResponse(decoding: raw, .all)
      found.append([
        "\(response.url?.string ?? "-")", "\(response.request.method?.string ?? "-")",
        "\(response.request.headers?.fields ?? [])", "\(response.request.body ?? [])",
        "\(response.responseHeaders?.fields ?? [])", "\(response.status ?? 0)",
        try raw.part(.body)?.content?.digest() ?? "-",
      ])
      return .next
    }
    return found
  }

  @Test func `entries are the same with copies of heads and without`() throws {
    let found = try entries("/tmp")
    #expect(found.count == Self.count)
    #expect(try entries("/there/is/no/such/folder") == found)
    #expect(Set(found.map { $0[1] }) == ["POST"])
    #expect(found[7][3] == "\(Array("body 7".utf8))")
  }
}
