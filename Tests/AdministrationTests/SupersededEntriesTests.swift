import Administration
import Bytes
import ResponseStorage
import TestSupport
import Testing

@Suite struct SupersededEntriesTests {
  @Test func `the most recently stored version is kept, and in a tie the higher id`()
    throws
  {
    #expect(
      try superseded([
        entry(1, "https://e.com/a.js?v=3", stored: 30),
        entry(2, "https://e.com/a.js?v=1", stored: 10),
        entry(3, "https://e.com/a.js?v=2", stored: 30),
        entry(4, "https://e.com/b.js?v=1", stored: 1),
      ]) == [1, 2])
  }

  @Test func `an entry with the marker of the newest is kept`() throws {
    #expect(
      try superseded([
        entry(1, "https://e.com/a.js?v=1", stored: 10),
        entry(2, "https://e.com/a.js?v=2", stored: 20),
        entry(3, "https://e.com/a.js?v=1", stored: 30),
      ]) == [2])
  }

  @Test func `versions with different hosts, sizes, scales or partitions are independent`() throws {
    var other = entry(7, "https://e.com/a.js?v=2", stored: 20)
    other.partition = "site.example"
    #expect(
      try superseded([
        entry(1, "https://e.com/a.js?v=1", stored: 10),
        entry(2, "https://f.com/a.js?v=2", stored: 20),
        entry(3, "https://e.com/a-8f3a2c1d.png", stored: 10),
        entry(4, "https://e.com/a@2x-9e3a2c1d.png", stored: 20),
        entry(5, "https://e.com/a.jpg?w=1&v=1", stored: 10),
        entry(6, "https://e.com/a.jpg?w=2&v=2", stored: 20), other,
      ]) == [])
  }

  @Test func `errors supersede nothing`() throws {
    var failed = entry(2, "https://e.com/a.js?v=2", stored: 20)
    failed.status = 404
    #expect(try superseded([entry(1, "https://e.com/a.js?v=1", stored: 10), failed]) == [])
    #expect(try superseded([failed, entry(9, "https://e.com/a.js?v=3", stored: 30)]) == [2])
  }

  @Test func `an entry of unknown time is not selected, and is reported`() throws {
    var unknown = entry(1, "https://e.com/a.js?v=1", stored: 10)
    unknown.stored = nil
    let source = MemoryStore([unknown, entry(2, "https://e.com/a.js?v=2", stored: 20)])
    var selection = Selection()
    selection.selectsSuperseded = true
    #expect(!selection.isEmpty)
    try selection.findSuperseded(in: source)
    #expect(try selection.decision(for: source.responses[0], now: .epoch) == .unknownTime)
    #expect(try selection.decision(for: source.responses[1], now: .epoch) == .notSelected)
  }

  @Test func `usage and report agree with the selection`() throws {
    // Seeds 0 to 29, in portions of seven responses.
    for seed in 0..<30 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var source = MemoryStore(
        (1...60).map { id in
          var response = entry(
            Int64(id),
            "https://e.com/\(Int.random(in: 0..<6, using: &random)).js?v=\(Int.random(in: 0..<4, using: &random))",
            stored: .random(in: 0..<20, using: &random))
          response.bodySize = ByteCount(Int64.random(in: 0..<1_000, using: &random))
          if Int.random(in: 0..<9, using: &random) == 0 { response.status = 500 }
          return response
        })
      source.tallyLength = 7
      let ids = Set(try superseded(source.responses))
      let sum = source.responses.filter { ids.contains($0.id.number) }
        .reduce(into: CacheReport.Sum()) {
          $0.entries += 1
          $0.bytes += $1.bodySize ?? 0
        }
      let usage = try UsageReport(
        of: source, by: nil, capacityBytes: nil, now: .epoch, findingSuperseded: true)
      #expect(usage.superseded == sum, "seed \(seed)")
      let report = try CacheReport(
        of: source, at: .epoch, expiryRules: [], capacityBytes: nil)
      #expect(report.usage.superseded == sum, "seed \(seed)")
      for (name, group) in Dictionary(grouping: source.responses, by: { $0.url?.bytes.prefix(19) })
      {
        let newest = group.filter { $0.status == 200 }.max {
          ($0.stored!, $0.id) < ($1.stored!, $1.id)
        }
        #expect(newest.map { !ids.contains($0.id.number) } ?? true, "seed \(seed): \(name ?? [])")
      }
    }
  }

  @Test func `each entry is compared with the newest version`() throws {
    for seed in 0..<40 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let source = MemoryStore(
        (1...80).map { number in
          let url = "https://e.com/\(Int.random(in: 0..<9, using: &random)).js"
          let version = Int.random(in: 0..<4, using: &random)
          var response = entry(
            Int64(number), "\(url)?v=\(version)",
            stored: .random(in: 0..<9, using: &random).rounded())
          // The same ids as those of a Foundation cache, and far from each other.
          if seed % 4 == 1 { response.id = .file(ByteString("f\(number * 7_919 % 80)")) }
          if seed % 4 == 2 { response.id = .row(Int64.max / 80 * Int64(number - 40)) }
          if Int.random(in: 0..<9, using: &random) == 0 { response.stored = nil }
          if Int.random(in: 0..<9, using: &random) == 0 { response.status = 404 }
          if Int.random(in: 0..<9, using: &random) == 0 { response.partition = "site.example" }
          return response
        })
      let entries = try SupersededEntries(in: source)
      for response in source.responses {
        // A version mark is the last letter of these URLs.
        let versions = source.responses.filter {
          $0.url?.bytes.dropLast() == response.url?.bytes.dropLast()
            && $0.partition == response.partition
        }
        let newest = versions.filter { $0.status == 200 && $0.stored != nil }
          .max { ($0.stored!, $0.id) < ($1.stored!, $1.id) }
        let expected: SupersededEntries.State =
          if let newest, newest.url != response.url {
            if let stored = response.stored {
              (stored, response.id) < (newest.stored!, newest.id) ? .superseded : .current
            } else {
              .unknownTime
            }
          } else {
            .current
          }
        #expect(entries.state(of: response) == expected, "seed \(seed): \(response.id)")
      }
    }
  }

  private func entry(_ id: Int64, _ url: String, stored: Double) -> StoredResponse {
    var response = StoredResponse(id: .row(id))
    (response.key, response.url) = (ByteString(url), ByteString(url))
    response.status = 200
    response.stored = Timestamp(secondsSince1970: stored)
    response.bodySize = 10
    response.bodyLocation = .inline
    return response
  }

  private func superseded(_ responses: [StoredResponse]) throws -> [Int64] {
    let source = MemoryStore(responses)
    let entries = try SupersededEntries(in: source)
    return source.responses.filter {
      if case .superseded = entries.state(of: $0) { true } else { false }
    }.map(\.id.number)
  }
}

extension StoredResponse.ID {
  fileprivate var number: Int64 { if case .row(let number) = self { number } else { -1 } }
}
