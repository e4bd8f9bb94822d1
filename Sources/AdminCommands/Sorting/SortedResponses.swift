import Administration
import Bytes
import ResponseArchives
import ResponseStorage

/// Entries in an order.
struct SortedResponses {
  private let order: ResponseOrder
  private let limit: Int?
  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private var responses: [(key: ResponseOrder.Key, response: StoredResponse)] = []

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - limit: The number of entries to keep; `nil` for all.
  ///   - now: The time at which an entry is fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  init(
    by order: ResponseOrder, limit: Int?, now: Timestamp, expiryRules: [UserInfoExpiry.Rule]
  ) {
    self.order = order
    self.limit = limit
    self.now = now
    self.expiryRules = expiryRules
  }

  /// Adds an entry; drops surplus entries from time to time, so that memory is bounded by the limit.
  mutating func insert(_ response: borrowing StoredResponse) {
    responses.append((order.key(of: response, at: now, rules: expiryRules), copy response))
    // Sort only when the list has doubled. Doubling a huge limit would overflow.
    if let limit,
      responses.count >= max(limit > Int.max / 2 ? Int.max : limit * 2, 4_096)
    {
      prune()
    }
  }

  /// Returns the entries in order.
  mutating func finished() -> [StoredResponse] {
    prune()
    return responses.map(\.response)
  }

  private mutating func prune() {
    responses.sort { order.precedes(($0.key, $0.response.id), ($1.key, $1.response.id)) }
    if let limit, responses.count > limit { responses.removeLast(responses.count - limit) }
  }
}

/// The ids of the first entries in an order.
///
/// Only what decides the order is decoded of all entries, on each thread that reads the store.
struct FirstInOrder: ResponseTally {
  /// The largest limit for which it is worth reading the entries again.
  static let largestLimit = 100_000

  private let order: ResponseOrder
  private let limit: Int
  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]

  /// The number of all entries.
  private(set) var entries: Int64 = 0
  private var places: [ResponseOrder.Place] = []
  /// The place after which no entry is among the first, if it is known.
  private var last: ResponseOrder.Place?

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - limit: The number of entries to keep.
  ///   - now: The time at which an entry is fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  init(by order: ResponseOrder, limit: Int, now: Timestamp, expiryRules: [UserInfoExpiry.Rule]) {
    self.order = order
    self.limit = limit
    self.now = now
    self.expiryRules = expiryRules
  }

  mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    let key = order.key(of: response, at: now, rules: expiryRules)
    if let last, !order.precedes((key, response.id), last) { return }
    // A scan reuses the memory of texts.
    switch (key, response.id) {
    case (.text(let text), let id): places.append((.text(ByteString(copying: text)), id))
    case (let key, let id): places.append((key, id))
    }
    if places.count >= max(2 * limit, 256) { prune() }
  }

  /// Adds the entries of another list, and empties that.
  mutating func insert(_ other: inout Self) {
    entries += other.entries
    places += other.places
    prune()
    (other.entries, other.places, other.last) = (0, [], nil)
  }

  /// Returns the ids in order.
  mutating func finished() -> [StoredResponse.ID] {
    prune()
    return places.map(\.id)
  }

  private mutating func prune() {
    places.sort { order.precedes($0, $1) }
    guard places.count >= limit else { return }
    places.removeLast(places.count - limit)
    last = places.last
  }
}

extension ResponseOrder {
  /// What decides the place of an entry.
  typealias Place = (key: Key, id: StoredResponse.ID)

  /// Whether an entry comes before another one.
  func precedes(_ first: Place, _ second: Place) -> Bool {
    // Equal keys are the rule, such as 200 for a status. Without a second key, two listings of
    // one cache could differ.
    if first.key == second.key { return first.id < second.id }
    return isDescending ? second.key < first.key : first.key < second.key
  }
}

extension Listing {
  /// Calls `body` with the first selected entries in an order, up to the limit.
  ///
  /// - Returns: The number of all selected entries.
  mutating func scanSorted(
    _ source: any ResponseSource, _ projection: Projection, by order: ResponseOrder,
    _ body: (borrowing StoredResponse) throws -> Void
  ) throws -> Int64 {
    let responses = try firstResponses(of: source, projection, by: order)
    let selected = shown
    (shown, bodyBytes) = (0, 0)
    for response in responses {
      count(response)
      try body(response)
    }
    return selected
  }

  private mutating func firstResponses(
    of source: any ResponseSource, _ projection: Projection, by order: ResponseOrder
  ) throws -> [StoredResponse] {
    let limit = limit
    // The order is only known after all entries are read, so the limit applies afterwards.
    self.limit = nil
    // An archive is read only once.
    guard let limit, limit <= FirstInOrder.largestLimit, source.description.format != .archive
    else {
      var responses = SortedResponses(
        by: order, limit: limit, now: now, expiryRules: selection.expiryRules)
      try scan(source, projection.union(order.projection)) { responses.insert($0) }
      return responses.finished()
    }
    var first = FirstInOrder(by: order, limit: limit, now: now, expiryRules: selection.expiryRules)
    if selection.isEmpty {
      // Without a selection, the threads that read the store can choose.
      try source.scan(ScanRequest(order.projection, in: .any), into: first) { entries in
        count(entries)
        first.insert(&entries)
        return .next
      }
    } else {
      try scan(source, selection.projection.union(order.projection)) { first.insert($0) }
    }
    let ids = first.finished()
    var responses: [StoredResponse.ID: StoredResponse] = [:]
    try source.forEachResponse(of: ids.sorted(), projection) { response in
      responses[response.id] = copy response
      return .next
    }
    return ids.compactMap { responses[$0] }
  }
}
