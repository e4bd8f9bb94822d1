import Bytes
import ResponseStorage
import TestSupport
import Testing

@testable import Administration

@Suite struct VersionSearchTests {
  @Test func `a set has the ids that were added`() {
    for seed in 0..<50 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let range: ClosedRange<Int64> = [-70...130, .min ... .max, 0...9_999][Int(seed) % 3]
      var ids: Set<StoredResponse.ID> = [.row(range.lowerBound), .row(range.upperBound)]
      for _ in 0..<100 {
        ids.insert(.row(.random(in: range, using: &random)))
        ids.insert(.file(ByteString("name \(Int.random(in: 0..<900, using: &random))")))
      }
      var set = EntryIDSet()
      for id in ids.sorted() { set.append(id) }
      set.finish()
      for id in ids { #expect(set.contains(id), "seed \(seed)") }
      for _ in 0..<300 {
        let id = StoredResponse.ID.row(.random(in: range, using: &random))
        #expect(set.contains(id) == ids.contains(id), "seed \(seed)")
      }
      for number in 0..<900 {
        let id = StoredResponse.ID.file(ByteString("name \(number)"))
        #expect(set.contains(id) == ids.contains(id), "seed \(seed)")
      }
    }
    #expect(!EntryIDSet().contains(.row(0)) && !EntryIDSet().contains(.file("")))
  }

  @Test func `versions that do not fit into memory are compared, too`() throws {
    var search = VersionSearch()
    let count: Int64 = 70_000
    for number in 0..<count {
      var response = StoredResponse(id: .row(number))
      response.url = ByteString("https://e.com/\(number % 1_000).js?v=\(number / 1_000)")
      response.key = response.url
      response.status = 200
      response.bodySize = 2
      response.bodyLocation = .inline
      // The first versions are stored last.
      response.stored = Timestamp(secondsSince1970: Double(count - number))
      response.responseHeaders = HeaderFields()
      try search.insert([try #require(VersionedEntry(response))])
    }
    var copy = search
    let entries = try search.finish()
    let sum = try copy.sum()
    #expect(
      sum == CacheReport.Sum(entries: count - 1_000, bytes: ByteCount(2 * count - 2_000)))
    #expect((0..<count).allSatisfy { entries.superseded.contains(.row($0)) == ($0 >= 1_000) })
  }
}
