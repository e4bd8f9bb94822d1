import Administration
import ArgumentParser
import Bytes
import HTTPCaching
import Rendering
import ResponseStorage

/// An order of entries: by a column, then by id.
struct ResponseOrder {
  /// The column.
  let column: EntryField
  /// Whether the largest value comes first.
  let isDescending: Bool
  private var reader: EntryField.Reader?

  /// The order without `--sort`.
  static let byID = ResponseOrder(column: "id", isDescending: false)

  /// The opposite order.
  var reversed: ResponseOrder { ResponseOrder(column: column, isDescending: !isDescending) }

  private init(column: EntryField, isDescending: Bool) {
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
    column = columns[0]
    self.isDescending = hasSign != (isWord && direction == "desc")
  }

  /// Returns the order for entries of which this is known.
  func resolved(in context: EntryContext) -> ResponseOrder {
    var order = self
    order.reader = column.ordered(in: context)
    return order
  }

  /// The fields needed for the place of an entry.
  var projection: Projection { column.orderProjection }

  /// Returns the place of an entry. The order must be resolved.
  func place(of response: borrowing StoredResponse) -> EntryPlace {
    // A mistake of the caller: no entry must be sorted by an order that does not say how.
    guard let reader else { preconditionFailure("the order is not resolved") }
    return EntryPlace(reader.value(response)?.order ?? .unknown, response.id)
  }

  /// Whether an entry comes before another one.
  func precedes(_ first: EntryPlace, _ second: EntryPlace) -> Bool {
    first.precedes(second, isDescending: isDescending)
  }
}

/// The entries of an archive in an order. They are in memory, because an archive cannot be read again from any entry on.
struct SortedResponses {
  private let order: ResponseOrder
  private let limit: Int?
  private var responses: [(place: EntryPlace, response: StoredResponse)] = []

  /// Creates an empty list.
  ///
  /// - Parameter limit: The number of entries to keep; `nil` for all.
  init(by order: ResponseOrder, limit: Int?) { (self.order, self.limit) = (order, limit) }

  /// Adds an entry; drops surplus entries from time to time, so that memory is bounded by the limit.
  mutating func insert(_ response: borrowing StoredResponse) {
    responses.append((order.place(of: response), copy response))
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

  /// The number of all entries.
  private(set) var entries: Int64 = 0
  private var places: [EntryPlace] = []
  /// The place after which no entry is among the first, if it is known.
  private var last: EntryPlace?

  /// Creates an empty list.
  ///
  /// - Parameter limit: The number of entries to keep.
  init(by order: ResponseOrder, limit: Int) { (self.order, self.limit) = (order, limit) }

  mutating func insert(_ response: borrowing StoredResponse) {
    entries += 1
    let place = order.place(of: response)
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

  private(set) var places: [EntryPlace] = []

  /// Creates an empty list.
  init(by order: ResponseOrder) { self.order = order }

  var isFull: Bool { places.count >= 1_024 }

  mutating func insert(_ response: borrowing StoredResponse) {
    places.append(EntryPlace(copying: order.place(of: response)))
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
  /// Which entries come first, for people: `smallest`; `nil` for an order of texts.
  var first: String? { ends.map { isDescending ? $0.last : $0.first } }

  /// The first words of the ascending and of the descending order.
  private var ends: (first: String, last: String)? {
    switch column.kind {
    case .size: ("smallest", "largest")
    case .age: ("newest", "oldest")
    case .time, .date: ("oldest", "newest")
    case .expiry: ("earliest", "latest")
    case .remaining, .duration: ("shortest", "longest")
    default: nil
    }
  }

  /// A hint at the opposite order, for an ascending one of which a limit hides the end.
  var hint: String? {
    guard !isDescending, let ends else { return nil }
    return "list the \(ends.last) first with '--sort=-\(column.name)'"
  }
}
