import Administration
import Bytes
import ResponseStorage

/// The entries of an archive in an order. They are in memory, because an archive cannot be read again from any entry on.
struct SortedResponses {
  private let order: ResponseOrder
  private let limit: Int?
  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]
  private var responses: [(place: EntryPlace, response: StoredResponse)] = []

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
    responses.append((order.place(of: response, at: now, rules: expiryRules), copy response))
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
    responses.sort { order.precedes($0.place, $1.place) }
    if let limit, responses.count > limit { responses.removeLast(responses.count - limit) }
  }
}
