import Administration
import Rendering
import ResponseStorage

/// The entries that differ between two stores, read again for their details.
struct ComparedEntries {
  /// The number of entries that are read from each store at once: a pass through an archive finds many entries for
  /// the price of one, and their header fields must fit into memory.
  private static let batchSize = 256

  let first: any ResponseSource
  let second: any ResponseSource

  /// Whether to read the entries; otherwise there are no details.
  let hasDetail: Bool

  /// Whether to compare bodies.
  let comparesBodies: Bool

  /// Calls `body` with each difference, in order.
  func forEach(
    _ differences: [StoreComparison.Difference],
    _ body: (StoreComparison.Difference, EntryDifference?) throws -> Void
  ) throws {
    // The comparison itself kept digests only, so nothing is read again unless somebody wants to
    // see it.
    guard hasDetail else { return try differences.forEach { try body($0, nil) } }
    var rest = differences[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.batchSize)
      rest = rest.dropFirst(batch.count)
      let before = try responses(batch.compactMap(\.first), of: first)
      let after = try responses(batch.compactMap(\.second), of: second)
      for difference in batch {
        let detail = EntryDifference(
          first: difference.first.flatMap { before[$0] },
          second: difference.second.flatMap { after[$0] },
          body: try compareBodies(difference))
        try body(difference, detail)
      }
    }
  }

  private func responses(
    _ ids: [StoredResponse.ID], of source: any ResponseSource
  ) throws -> [StoredResponse.ID: StoredResponse] {
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse(of: ids.sorted(), .all) { response in
      responses[response.id] = copy response
      return .next
    }
    return responses
  }

  private func compareBodies(_ difference: StoreComparison.Difference) throws -> BodyDifference? {
    guard comparesBodies, difference.aspects.contains(.body),
      let one = difference.first, let other = difference.second
    else { return nil }
    return try ComparedBodies(first: first, second: second).compare(one, other)
  }
}
