import SQLite
import TestSupport
import Testing

@testable import ResponseStorage

@Suite struct AppleChunksTests {
  @Test(arguments: 1...20)
  func `chunks follow each other, and have a limited number of responses`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    // Runs of ids, and gaps of every size between them.
    var ids: [Int64] = []
    let firsts: [Int64] = [.min, .min + 1, -3, 0, 1, 5_000, .max - 500]
    var next = firsts.randomElement(using: &random) ?? 1
    for _ in 0..<Int.random(in: 0..<30, using: &random) {
      for _ in 0..<Int.random(in: 1..<300, using: &random) {
        ids.append(next)
        guard next < .max else { break }
        next += 1
      }
      let gaps: [Int64] = [1, 2, 6, 7, 8, 9, 200, 1_000_000, 1 << 60]
      let (sum, overflows) = next.addingReportingOverflow(gaps.randomElement(using: &random) ?? 1)
      guard !overflows else { break }
      next = sum
    }
    let connection = try Self.database(of: ids)
    let length = [1, 2, 100].randomElement(using: &random) ?? 1
    var ends = try AppleChunkEnds(of: connection, length: length)
    let chunks = AppleChunks()
    var (expectedFirst, number): (Int64?, Int) = (.min, 0)
    while let chunk = try chunks.next(&ends) {
      #expect(chunk.ids.lowerBound == expectedFirst && chunk.number == number)
      #expect(chunk.isLast == (chunk.ids.upperBound == .max))
      #expect(ids.count { chunk.ids.contains($0) } <= length)
      (expectedFirst, number) = (chunk.isLast ? nil : chunk.ids.upperBound + 1, number + 1)
    }
    #expect(expectedFirst == nil)
    #expect(number <= ids.count + 1)
  }

  @Test func `the ends of chunks of ids in use are found without counting`() throws {
    let connection = try Self.database(of: Array(1...10_000))
    var ends = try AppleChunkEnds(of: connection, length: 1_000)
    #expect(try ends.end(ofChunkAt: 1) == 1_001)
    #expect(try ends.end(ofChunkAt: 9_000) == 10_000)
    #expect(try ends.end(ofChunkAt: 9_001) == nil)
    #expect(try ends.end(ofChunkAt: .max - 5) == nil)
    // Only rows that are not there could be counted.
    try connection.execute("DELETE FROM cfurl_cache_response WHERE entry_ID BETWEEN 2 AND 990")
    #expect(try ends.end(ofChunkAt: 1) == 1_001)
    try connection.execute("DELETE FROM cfurl_cache_response WHERE entry_ID BETWEEN 991 AND 1007")
    #expect(try ends.end(ofChunkAt: 1) == 1_008)
    try connection.execute("DELETE FROM cfurl_cache_response WHERE entry_ID = 1008")
    #expect(try ends.end(ofChunkAt: 1) == 2_008)
  }

  private static func database(of ids: [Int64]) throws -> Connection {
    let connection = try Connection(path: "", access: .temporary)
    try connection.execute("CREATE TABLE cfurl_cache_response(entry_ID INTEGER PRIMARY KEY)")
    var insert = try connection.prepare("INSERT INTO cfurl_cache_response VALUES (?1)")
    for id in ids {
      try insert.restart(for: id)
      _ = try insert.step()
    }
    insert.reset()
    return connection
  }
}
