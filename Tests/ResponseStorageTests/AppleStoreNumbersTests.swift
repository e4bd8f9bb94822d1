import Bytes
import Foundation
import PropertyLists
import Testing

@testable import ResponseStorage

@Suite struct AppleStoreNumbersTests {
  @Test func `lookups by id find the same responses as a scan`() throws {
    let folder = try AppleParallelScanTests.store()
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var all: [Int64: StoredResponse] = [:]
    try store.scan(.all) { response in
      if case .row(let number) = response.id { all[number] = copy response }
      return .next
    }
    let numbers = all.keys.sorted()
    var state: UInt64 = 7
    for most in [1, 2, 15, 16, 17, 40, 400] as [UInt64] {
      // Some ids are consecutive and some isolated, and some do not exist.
      var chosen: [Int64] = [.min, -1]
      var index = 0
      while index < numbers.count {
        chosen.append(numbers[index])
        if all[numbers[index] + 1] == nil { chosen.append(numbers[index] + 1) }
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        index += 1 + Int((state >> 33) % most)
      }
      chosen.append(.max)
      var found: [StoredResponse] = []
      try store.forEachResponse(of: chosen.map(StoredResponse.ID.row), .all) { response in
        found.append(copy response)
        return .next
      }
      #expect(found == chosen.compactMap { all[$0] }, "seed 7, gaps up to \(most)")
      #expect(found.count > 10)
    }
  }

  @Test func `counting ends at a limit`() throws {
    let folder = try AppleParallelScanTests.store()
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    let count = try store.count()
    #expect(try store.count(upTo: count) == count)
    #expect(try store.count(upTo: .max) == count)
    for limit in [-1, 0, 1, count - 1] { #expect(try store.count(upTo: limit) == nil, "\(limit)") }
  }

  @Test func `the first responses of a scan are the same on one thread`() throws {
    let folder = try AppleParallelScanTests.store()
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var (all, first): ([StoredResponse], [StoredResponse]) = ([], [])
    try store.scan(.all) { response in
      all.append(copy response)
      return all.count < 20 ? .next : .stop
    }
    try store.scanFirst(.all) { response in
      first.append(copy response)
      return first.count < 20 ? .next : .stop
    }
    #expect(first == all)
    #expect(first.count == 20)
  }

  @Test func `notes are the same in lookups and scans`() throws {
    let folder = try AppleParallelScanTests.store()
    var message = AppleMessage.Response(
      url: "https://a.example/", stored: try #require(Timestamp(secondsSince1970: 0)), status: 200,
      headers: HeaderFields([]), mimeType: "text/html"
    ).propertyList
    message.replaceElements { $0[3] = .text("200") }
    let bytes = PropertyListWriter().bytes(of: message).map { String(format: "%02x", $0) }.joined()
    _ = try Tool.output(
      "sqlite3", "\(folder.path)/Cache.db",
      "UPDATE cfurl_cache_blob_data SET response_object = x'\(bytes)' WHERE entry_ID = 5")
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var found: [[StoredResponse.Note]] = []
    try store.scan([.firstStored, .notes]) { response in
      if response.id == .row(5) { found.append(response.notes) }
      return .next
    }
    try store.forEachResponse(of: [.row(5)], .notes) { response in
      found.append(response.notes)
      return .next
    }
    found.append(try #require(try store.response(.row(5), .notes)).notes)
    #expect(
      found.map { $0.map(\.message) }
        == Array(repeating: ["the status is not an integer"], count: 3))
  }

  @Test func `a scan by id stops on request`() throws {
    let folder = try AppleParallelScanTests.store()
    let store = try AppleStore(readingFrom: folder.path, wait: 0)
    var count = 0
    try store.forEachResponse(of: (1...5_000).map(StoredResponse.ID.row), []) { _ in
      count += 1
      return count == 3 ? .stop : .next
    }
    #expect(count == 3)
  }
}
