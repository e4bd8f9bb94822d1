import Bytes
import Files
import Foundation
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct TraceSearchTests {
  /// Returns what a search for URLs finds in a file of zeros, in which texts stand at some offsets.
  private func report(
    _ urls: [String], size: Int, _ places: [(text: String, offset: Int)]
  ) throws -> TraceReport {
    let folder = try TemporaryDirectory(in: NSTemporaryDirectory())
    let path = folder.path + "/file"
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: UInt64(size))
    for place in places {
      try file.seek(toOffset: UInt64(place.offset))
      try file.write(contentsOf: Data(place.text.utf8))
    }
    try file.close()

    var texts = RemovedTexts()
    texts.insert(EntryNames(urls.map { .url(ByteString($0)) }))
    var search = TraceSearch(for: texts)
    try search.search(StoreFile(name: "Cache.db", isOfEntry: false), try OpenFile(reading: path))
    var store = MemoryStore()
    store.description = StoreDescription(path: "memory", format: .foundation, schemaVersion: nil)
    return try search.finish { store }
  }

  @Test(arguments: [1, 2, 3, 8])
  func `a text at any place around the end of a piece is found once`(threads: Int) throws {
    let size = threads << 24
    let url = "https://example.com/removed"
    for end in [1 << 20, 2 << 20, 5 << 20, size] {
      for distance in [0, 1, url.utf8.count - 1, url.utf8.count] {
        let offset = end - distance
        guard offset + url.utf8.count <= size else { continue }
        let report = try report([url], size: size, [(url, offset)])
        #expect(
          report.places == [.init(file: "Cache.db", traces: 1, offset: Int64(offset))],
          "\(offset)")
      }
    }
  }

  @Test func `occurrences are counted over all threads, up to the most`() throws {
    let (few, many) = ("https://example.com/few", "https://example.com/many")
    let size = 1 << 26
    let places =
      (0..<40).map { (many, size / 40 * $0 + 5_000) }
      + (0..<3).map { (few, size / 3 * $0 + 1_000) }
    var report = try report([few, many], size: size, places)
    #expect(report.places == [.init(file: "Cache.db", traces: 3 + 16, offset: 1_000)])
    report = try self.report([many], size: size, places)
    #expect(report.places == [.init(file: "Cache.db", traces: 16, offset: 5_000)])
  }

  @Test(arguments: [(100, 2), (10_001, 1)])
  func `many texts are looked for in entries until one has each`(count: Int, sharing: Int) throws {
    let folder = try TemporaryDirectory(in: NSTemporaryDirectory())
    let urls = (0..<count).map { "https://example.com/removed/\($0)/" }
    try "\(urls[7]) \(urls[8])".write(
      toFile: folder.path + "/file", atomically: false, encoding: .utf8)
    var texts = RemovedTexts()
    texts.insert(EntryNames(urls.map { .url(ByteString($0)) }))
    var search = TraceSearch(for: texts)
    for isOfEntry in [true, true, false] {
      try search.search(
        StoreFile(name: "file", isOfEntry: isOfEntry),
        try OpenFile(reading: folder.path + "/file"))
    }
    var store = MemoryStore()
    store.description = StoreDescription(path: "memory", format: .foundation, schemaVersion: nil)
    let report = try search.finish { store }
    #expect(report.traces == 0 && report.sharedTexts == 2)
    #expect(report.sharingEntries == sharing && report.countsAllSharing == (sharing == 2))
  }

  @Test func `a file that cannot be read is an error`() throws {
    var texts = RemovedTexts()
    texts.insert(EntryNames([.url("https://example.com/removed")]))
    var search = TraceSearch(for: texts)
    #expect(throws: FileError.self) {
      try search.search(StoreFile(name: "x", isOfEntry: false), try OpenFile(reading: "/"))
    }
  }
}
