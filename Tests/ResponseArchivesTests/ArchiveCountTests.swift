import Foundation
import ResponseArchives
import ResponseStorage
import Testing

@Suite struct ArchiveCountTests {
  /// A WARC file with responses for different URLs.
  private static func warc(_ count: Int) -> [UInt8] {
    (0..<count).flatMap { number in
      let block = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbody \(number)"
      return Array(
        """
        WARC/1.1\r
        WARC-Type: response\r
        WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000\(number)>\r
        WARC-Date: 2024-01-01T00:00:00Z\r
        WARC-Target-URI: https://a.example/\(number)\r
        Content-Type: application/http;msgtype=response\r
        Content-Length: \(block.utf8.count)\r
        \r
        \(block)\r
        \r

        """.utf8)
    }
  }

  /// A HAR file with responses for different URLs.
  private static func har(_ count: Int) -> [UInt8] {
    let entries = (0..<count).map { number in
      #"{"startedDateTime":"2024-01-01T00:00:00Z","request":{"method":"GET","url":"https://a.example/\#(number)"},"#
        + #""response":{"status":200,"headers":[],"content":{"mimeType":"text/plain","text":"body \#(number)"}}}"#
    }
    return Array(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#.utf8)
  }

  @Test(arguments: [warc(5), har(5)])
  func `entries are counted by the index, without reading them again`(_ bytes: [UInt8]) throws {
    let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let archive: any ResponseSource = try ArchiveOpening(
      path: file.path()
    ).open()
    let handle = try FileHandle(forWritingTo: file)
    try handle.write(contentsOf: Data(count: bytes.count))
    try handle.close()
    #expect(try archive.count() == 5)
  }

  @Test func `a damaged file is not counted`() throws {
    let file = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
    try Data(Self.warc(5).dropLast(40)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let archive: any ResponseSource = try ArchiveOpening(
      path: file.path()
    ).open()
    let error = #expect(throws: ResponseArchiveError.self) { try archive.count() }
    #expect(error?.kind == .damaged)
  }
}
