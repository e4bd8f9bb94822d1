import Administration
import ArgumentParser
import Bytes
import HTTPCaching
import Rendering
import ResponseStorage

/// An order of entries: by a column, then by id.
struct ResponseOrder: Hashable {
  /// The column.
  var column: Column
  /// Whether the largest value comes first.
  let isDescending: Bool

  /// The order without `--sort`.
  static let byID = ResponseOrder(column: .id, isDescending: false)

  /// The opposite order.
  var reversed: ResponseOrder { ResponseOrder(column: column, isDescending: !isDescending) }

  private init(column: Column, isDescending: Bool) {
    (self.column, self.isDescending) = (column, isDescending)
  }

  /// Parses `size` or `-size`, and also `size desc` and `size:desc`, as other programs write it.
  init(parsing text: String) throws {
    let words = text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }
      .map { ByteString(Array($0)).asciiLowercased }
    // A column such as `user-info:KEY` has a colon, too.
    let direction = words.count == 2 ? words[1].string ?? "" : ""
    let isWord =
      ["asc", "desc"].contains(direction)
      && !["user-info", "proto-props"].contains(words[0].string)
    let name = isWord ? words[0].string ?? text : text
    let hasSign = name.utf8.first == UInt8(ascii: "-")
    let columns = try parseColumns(hasSign ? String(name.dropFirst()) : name)
    guard columns.count == 1 else { throw ValidationError("'--sort' accepts one column.") }
    self.column = columns[0]
    self.isDescending = hasSign != (isWord && direction == "desc")
  }

  /// The fields needed for the key of an entry.
  var projection: Projection {
    // Two-digit years are resolved relative to the stored time.
    [.date, .lastModified].contains(column) ? column.projection.union(.stored) : column.projection
  }

  /// What an entry is sorted by.
  typealias Key = EntryPlace.Key

  /// Returns the sort key of an entry.
  ///
  /// - Parameters:
  ///   - now: The time at which an entry is fresh or stale.
  ///   - rules: The expiry rules of the app, which affect freshness.
  func key(
    of response: borrowing StoredResponse, at now: Timestamp, rules: [UserInfoExpiry.Rule]
  ) -> Key {
    switch column {
    case .id:
      switch response.id {
      case .row(let row): .number(Double(row))
      case .file(let name): .text(name)
      }
    case .stored: Self.number(response.stored?.secondsSince1970)
    // The entry stored first has the largest age.
    case .age: Self.number((response.stored?.secondsSince1970).map { -$0 })
    case .firstStored: Self.number(response.firstStored?.secondsSince1970)
    case .status: Self.number(response.status.map { Double($0) })
    case .size, .disk: Self.number(response.bodySize.map { Double($0) })
    case .received:
      Self.number(Exchange(of: response).flatMap { ReceivedBody(of: $0) }?.percent)
    case .announced:
      Self.number(
        Exchange(of: response).flatMap { ReceivedBody(of: $0) }.map { Double($0.announced) })
    case .method: Self.text(response.request.method)
    case .mime: Self.text(response.mimeType)
    case .url, .responseURL: Self.text(response.url)
    case .requestURL: Self.text(response.requestedURL)
    case .host: Self.text(response.url.flatMap { CanonicalURL.host(of: $0) })
    case .path: Self.text(response.url.flatMap { CanonicalURL.path(of: $0) })
    case .scheme: Self.text(response.url.flatMap { CanonicalURL.scheme(of: $0) })
    case .partition: Self.text(response.partition)
    case .key: Self.text(response.key)
    case .bodyLocation: Self.text(response.bodyLocation.map { ByteString($0.rawValue) })
    case .policy: Self.text(response.storagePolicy.map { ByteString("\($0)") })
    case .etag: Self.text(response.responseHeaders?.firstValue(named: "etag"))
    case .cacheControl: Self.text(response.responseHeaders?.firstValue(named: "cache-control"))
    case .lastModified: Self.time(response, .lastModified)
    case .date: Self.time(response, .date)
    case .expires: Self.text(response.responseHeaders?.firstValue(named: "expires"))
    case .freshness, .ttl, .lifetime, .lifetimeSource, .currentAge, .expiresAt, .validators:
      ResponseFreshness(of: response, at: now, rules: rules).map { key(of: $0) } ?? .unknown
    case .requestHeaders: Self.number(response.request.headers.map { Double($0.fields.count) })
    case .responseHeaders: Self.number(response.responseHeaders.map { Double($0.fields.count) })
    case .notes: .number(Double(response.notes.count))
    case .sidecarETag(let tags): Self.text(tags?.tag(of: response))
    // Not names of columns to sort by.
    case .confidence, .found: .unknown
    case .userInfo(let key): Self.properties(response.userInfo, key)
    case .protocolProperties(let key): Self.properties(response.protocolProperties, key)
    }
  }

  private func key(of freshness: ResponseFreshness) -> Key {
    switch column {
    case .ttl: Self.number(freshness.remainingSeconds.map { Double($0) })
    case .lifetime: Self.number(freshness.lifetimeSeconds.map { Double($0) })
    case .currentAge: .number(Double(freshness.freshness.age.seconds))
    case .expiresAt: Self.number(freshness.expiresAt?.secondsSince1970)
    case .lifetimeSource: .text(ByteString(freshness.freshness.lifetime.source.rawValue))
    case .validators:
      .number(freshness.has(.strong) ? 2 : freshness.has(.weak) ? 1 : 0)
    default: .text(ByteString(freshness.state.rawValue))
    }
  }

  private static func number(_ value: Double?) -> Key { value.map { .number($0) } ?? .unknown }

  private static func text(_ value: ByteString?) -> Key { value.map { .text($0) } ?? .unknown }

  /// Returns the key for the value of `key`, or for the number of properties if there is none.
  private static func properties(
    _ properties: [StoredResponse.Property], _ key: ByteString?
  ) -> Key {
    guard let key else { return .number(Double(properties.count)) }
    return switch properties.value(for: key) {
    case .text(let text): .text(text)
    case .boolean(let flag): .number(flag ? 1 : 0)
    case .integer(let number): .number(Double(number))
    // NaN has no order.
    case .real(let number): number.isNaN ? .unknown : .number(number)
    case .date(let time): .number(time.secondsSince1970)
    case nil, .null, .data, .array, .dictionary, .opaque: .unknown
    }
  }

  private static func time(_ response: borrowing StoredResponse, _ basis: AgeBasis) -> Key {
    let time = response.stored.flatMap { basis.time(of: response, now: $0) }
    return number(time?.secondsSince1970)
  }
}

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

extension ResponseOrder {
  /// Which entries come first, for people: `smallest`; `nil` for an order of texts.
  var first: String? { ends.map { isDescending ? $0.last : $0.first } }

  /// The first words of the ascending and of the descending order.
  private var ends: (first: String, last: String)? {
    switch column {
    case .size, .disk, .announced: ("smallest", "largest")
    case .age, .currentAge: ("newest", "oldest")
    case .stored, .firstStored, .date, .lastModified: ("oldest", "newest")
    case .expiresAt: ("earliest", "latest")
    case .ttl, .lifetime: ("shortest", "longest")
    default: nil
    }
  }

  /// A hint at the opposite order, for an ascending one of which a limit hides the end.
  var hint: String? {
    guard !isDescending, let ends, let name = column.name.string else { return nil }
    return "list the \(ends.last) first with '--sort=-\(name)'"
  }
}
