import Bytes
import Foundation
import ResponseStorage
import Testing

@testable import ResponseArchives

@Suite struct WARCExportTests {
  /// The bytes of a file, and the responses in it.
  private final class File {
    var bytes: [UInt8] = []
    var captures: [WARCExport.Capture] = []

    func writer(level: Int?) throws -> WARCExport {
      try WARCExport(
        level: level,
        for: ArchiveExport(.warc, generatorVersion: "1")
      ) { [self] in
        captures.append($0)
      } writing: { [self] in
        bytes += $0
      }
    }

    func record(of capture: WARCExport.Capture) -> ArraySlice<UInt8> {
      bytes[Int(capture.place.lowerBound)..<Int(capture.place.upperBound)]
    }
  }

  private struct Unreadable: Error {}

  /// An entry whose body is its number, unless another is given.
  private func entry(_ number: Int64, url: String? = nil, _ body: Body? = nil) -> ExportedEntry {
    var raw = RawResponse(id: number)
    raw.parts = [.init(.body, body ?? Body(Array("\(number)".utf8)))]
    var response = StoredResponse(id: .row(number))
    response.url = ByteString(url ?? "https://example.com/\(number)")
    response.status = 200
    return ExportedEntry(number: number, raw: raw, response: response, warnings: [])
  }

  /// A body that is read from its store.
  private func stored(_ bytes: [UInt8], size: Int? = nil) -> Body {
    Body(size: ByteCount(size ?? bytes.count)) { BodyReader(bytes) }
  }

  @Test(arguments: [nil, 1])
  func `records keep the order of their entries, even if a body does not fit in memory`(
    level: Int?
  ) throws {
    let file = File()
    let writer = try file.writer(level: level)
    var written: [Int64] = []
    for number in Int64(1)...400 {
      let body: Body? =
        switch number {
        case 101: stored([UInt8](repeating: 0x61, count: 3 << 20))
        case 201: stored([UInt8](repeating: 0x62, count: 1 << 20))
        case 301: stored([UInt8](repeating: 0x63, count: 300_000))
        default: nil
        }
      let isSkipped = number % 50 == 0
      let reason = try writer.append(
        entry(number, url: isSkipped ? "no URL" : nil, body))
      #expect(reason == (isSkipped ? "it has no URL" : nil))
      if !isSkipped { written.append(number) }
    }
    try writer.finish(ArchiveExport.Summary())
    #expect(file.captures.map(\.uri) == written.map { Array("https://example.com/\($0)".utf8) })
    var end: Int64?
    for (number, capture) in zip(written, file.captures) {
      // The entries have no requests, so their responses are next to each other.
      #expect(end == nil || capture.place.lowerBound == end)
      end = capture.place.upperBound
      let record = file.record(of: capture)
      if level == nil {
        let head = String(decoding: record.prefix(500), as: UTF8.self)
        #expect(head.starts(with: "WARC/1.1\r\nWARC-Type: response\r\n"))
        #expect(head.contains("\r\nUrlcache-Entry-ID: \(number)\r\n"))
      } else {
        #expect(record.starts(with: [0x1F, 0x8B]))
      }
    }
  }

  @Test func `a body that cannot be read ends the export`() throws {
    for size in [10, 300_000, 3 << 20] {
      let writer = try File().writer(level: 6)
      _ = try writer.append(entry(1))
      let unreadable = Body(size: ByteCount(size)) { throw Unreadable() }
      #expect(throws: Unreadable.self) { try writer.append(entry(2, unreadable)) }
      // A file may have become shorter or longer.
      for count in [size - 1, size + 1] {
        let changed = stored([UInt8](repeating: 0x61, count: count), size: size)
        let error = #expect(throws: StoreError.self) { try writer.append(entry(2, changed)) }
        #expect(error?.code == .changedWhileReading)
      }
    }
  }

  @Test func `a body is compared with its digest`() throws {
    for size in [10, 3 << 20] {
      let writer = try File().writer(level: nil)
      var body = stored([UInt8](repeating: 0x61, count: size))
      body.sha256 = String(repeating: "0", count: 64)
      let error = #expect(throws: StoreError.self) { try writer.append(entry(1, body)) }
      #expect(error?.code == .changedWhileReading)
    }
  }
}
