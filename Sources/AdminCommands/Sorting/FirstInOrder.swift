import Administration
import Bytes
import ResponseStorage

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
  private var places: [EntryPlace] = []
  /// The place after which no entry is among the first, if it is known.
  private var last: EntryPlace?

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
    let place = order.place(of: response, at: now, rules: expiryRules)
    if let last, !order.precedes(place, last) { return }
    places.append(EntryPlace(copying: place))
    if places.count >= max(2 * limit, 256) { prune() }
  }

  /// Adds the entries of another list, and empties that.
  mutating func insert(_ other: inout Self) {
    entries += other.entries
    places += other.places
    prune()
    (other.entries, other.places, other.last) = (0, [], nil)
  }

  /// Returns the ids in order, and empties the list.
  mutating func removeAll() -> [StoredResponse.ID] {
    prune()
    defer { places = [] }
    return places.map(\.id)
  }

  private mutating func prune() {
    places.sort { order.precedes($0, $1) }
    guard places.count >= limit else { return }
    places.removeLast(places.count - limit)
    last = places.last
  }
}

/// The places of some entries, which a thread that reads the store has found.
struct EntryPlaces: ResponseTally {
  private let order: ResponseOrder
  private let now: Timestamp
  private let expiryRules: [UserInfoExpiry.Rule]

  private(set) var places: [EntryPlace] = []

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - now: The time at which an entry is fresh or stale.
  ///   - expiryRules: The expiry rules of the app, which affect freshness.
  init(by order: ResponseOrder, now: Timestamp, expiryRules: [UserInfoExpiry.Rule]) {
    (self.order, self.now, self.expiryRules) = (order, now, expiryRules)
  }

  var isFull: Bool { places.count >= 1_024 }

  mutating func insert(_ response: borrowing StoredResponse) {
    places.append(EntryPlace(copying: order.place(of: response, at: now, rules: expiryRules)))
  }

  mutating func removeAll() { places.removeAll(keepingCapacity: true) }
}

extension EntryPlace {
  /// Creates a copy, because a scan reuses the memory of texts.
  fileprivate init(copying place: EntryPlace) {
    if case .text(let text) = place.key {
      self.init(.text(ByteString(copying: text)), place.id)
    } else {
      self = place
    }
  }
}

extension ResponseOrder {
  /// Returns the place of an entry.
  ///
  /// - Parameters:
  ///   - now: The time at which an entry is fresh or stale.
  ///   - rules: The expiry rules of the app, which affect freshness.
  func place(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> EntryPlace {
    EntryPlace(key(of: response, at: now, rules: rules), response.id)
  }

  /// Whether an entry comes before another one.
  func precedes(_ first: EntryPlace, _ second: EntryPlace) -> Bool {
    first.precedes(second, isDescending: isDescending)
  }
}
