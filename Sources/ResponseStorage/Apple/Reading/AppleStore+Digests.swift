import Files
import SQLite

// Comparing entries without decoding them.
extension AppleStore {
  public func forEachDigest(
    includingBodies: Bool, _ body: (DigestedEntry) throws -> Void
  ) throws -> Bool {
    try translatingErrors {
      if let database = databaseForThreads {
        return try AppleDigestScan(
          of: database, layout, bodiesAt: files.bodies, readingBodies: includingBodies,
          in: idRanges(64), threadCount: min(processorCount, 4)
        ).forEachEntry(body)
      }
      var reader = try AppleContentReader(
        snapshot.connection, layout, bodiesAt: files.bodies, readingBodies: includingBodies)
      try reader.begin(in: .min ... .max)
      while let entry = try reader.next() {
        WorkCounter.add()
        try body(entry)
      }
    }
    return true
  }

  public func forEachRawResponse(
    of ids: [Int64], _ body: (RawResponse) throws -> Void
  ) throws {
    do {
      var rows = try AppleRawRows(snapshot.connection, layout)
      for id in ids {
        guard let (raw, long, file) = try rows.response(id) else { continue }
        try body(filled(raw, long, file))
      }
    } catch let error as SQLiteError {
      throw try translated(error)
    }
  }

  /// Returns ranges that together contain all ids.
  private func idRanges(_ count: Int) throws -> [ClosedRange<Int64>] {
    let tables = Set([AppleLayout.responses, AppleLayout.blobs, layout.bodyTable]).sorted()
    // Two queries: only a search for one end of a table needs no scan.
    func end(_ function: String) throws -> Int64 {
      let ends = tables.map { "SELECT \(function)(entry_ID) AS id FROM \($0)" }
      return try integer("SELECT \(function)(id) FROM (\(ends.joined(separator: " UNION ALL ")))")
    }
    let (first, last) = (try end("min"), try end("max"))
    // Ids of a hostile database can be far apart, so distances have no sign.
    let distance = UInt64(bitPattern: last &- first)
    let step = distance / UInt64(count) + 1
    var ranges: [ClosedRange<Int64>] = []
    var start: UInt64 = 0
    while start <= distance {
      let end = start + min(step - 1, distance - start)
      ranges.append((first &+ Int64(bitPattern: start))...(first &+ Int64(bitPattern: end)))
      guard end < distance else { break }
      start = end + 1
    }
    return ranges
  }
}
