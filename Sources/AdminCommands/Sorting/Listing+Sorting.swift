import Administration
import Bytes
import ResponseArchives
import ResponseStorage

extension Listing {
  /// The number of entries that are read again at a time, and are in memory.
  private static let partLength = 4_096

  /// Calls `body` with the first selected entries in an order, up to the limit.
  ///
  /// Only what decides the order is decoded of all entries; those to show are read again. Memory does not grow with the
  /// number of entries, except in an archive.
  ///
  /// - Returns: The number of all selected entries.
  mutating func scanSorted(
    _ source: any ResponseSource, _ projection: Projection, by order: ResponseOrder,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws -> Int64 {
    // The order is only known after all entries are read, so the limit applies afterwards.
    let limit = exchange(&limit, with: nil)
    // An archive is read only once.
    if !source.description.traits.isCache {
      var responses = SortedResponses(by: order, limit: limit)
      try scan(source, projection.union(order.projection)) { responses.insert($0) }
      let selected = beginShowing()
      for response in responses.finished() { try show(response, body) }
      return selected
    }
    var next: (Int) throws -> [StoredResponse.ID]
    if let limit, limit <= FirstInOrder.largestLimit {
      var first = try firstIDs(of: source, by: order, limit)[...]
      next = { count in
        defer { first = first.dropFirst(count) }
        return Array(first.prefix(count))
      }
    } else {
      var sorted = try sortedIDs(of: source, by: order)
      var left = limit ?? .max
      next = { count in
        let ids = try sorted.removeFirst(min(count, left))
        left -= ids.count
        return ids
      }
    }
    let selected = beginShowing()
    while true {
      let ids = try next(Self.partLength)
      if ids.isEmpty { return selected }
      try show(ids, of: source, projection, body)
    }
  }

  /// Returns the number of selected entries, and counts those that are shown from now on.
  private mutating func beginShowing() -> Int64 {
    defer { (shown, bodyBytes) = (0, 0) }
    return shown
  }

  private mutating func show(
    _ response: borrowing StoredResponse, _ body: (borrowing StoredResponse) throws -> Void
  ) rethrows {
    count(response)
    try body(response)
  }

  /// Reads entries, and shows them in the order of their ids in the list.
  private mutating func show(
    _ ids: [StoredResponse.ID], of source: any ResponseSource, _ projection: Projection,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws {
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse(of: ids.sorted(), projection) { response in
      responses[response.id] = copy response
      return .next
    }
    for id in ids {
      if let response = responses[id] { try show(response, body) }
    }
  }

  private mutating func firstIDs(
    of source: any ResponseSource, by order: ResponseOrder, _ limit: Int
  ) throws -> [StoredResponse.ID] {
    var first = FirstInOrder(by: order, limit: limit)
    if selection.isEmpty {
      // Without a selection, the threads that read the store can choose.
      try source.scan(ScanRequest(order.projection, in: .any), into: first) { entries in
        countSelected(entries.entries)
        first.insert(&entries)
        return .next
      }
    } else {
      try scan(source, selection.projection.union(order.projection)) { first.insert($0) }
    }
    return first.removeAll()
  }

  private mutating func sortedIDs(
    of source: any ResponseSource, by order: ResponseOrder
  ) throws -> SortedIDs {
    var sorted = SortedIDs(isDescending: order.isDescending)
    var places = EntryPlaces(by: order)
    if selection.isEmpty {
      try source.scan(ScanRequest(order.projection, in: .any), into: places) { found in
        countSelected(Int64(found.places.count))
        for place in found.places { try sorted.insert(place) }
        found.removeAll()
        return .next
      }
    } else {
      try scan(source, selection.projection.union(order.projection)) { response in
        places.insert(response)
        for place in places.places { try sorted.insert(place) }
        places.removeAll()
      }
    }
    return sorted
  }
}
