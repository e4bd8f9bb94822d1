public import Bytes
public import Files
public import ResponseStorage
import SQLite

/// What decides the place of an entry in an order: a value of the entry, then its id.
public struct EntryPlace: Hashable, Sendable {
  /// A value to sort by; unknown values come first.
  public enum Key: Hashable, Comparable, Sendable {
    case unknown
    case number(Double)
    case text(ByteString)
  }

  /// The value.
  public let key: Key
  /// The id of the entry.
  public let id: StoredResponse.ID

  /// Creates a place.
  public init(_ key: Key, _ id: StoredResponse.ID) { (self.key, self.id) = (key, id) }

  /// Whether an entry comes before another one.
  ///
  /// - Parameter isDescending: Whether the largest value comes first; of equal values, the lowest id always does.
  public func precedes(_ other: Self, isDescending: Bool) -> Bool {
    // Equal keys are the rule, such as 200 for a status. Without a second key, two listings of
    // one cache could differ.
    if key == other.key { return id < other.id }
    return isDescending ? other.key < key : key < other.key
  }
}

/// The ids of entries, sorted by their places. Memory does not grow with their number.
public struct SortedIDs {
  private var ids: Scratch.Sort<StoredResponse.ID>
  private var sorted: Scratch.Reader<StoredResponse.ID>?

  /// Creates an empty list.
  ///
  /// - Parameter isDescending: Whether the largest value comes first.
  public init(isDescending: Bool) { ids = Scratch.Sort(descending: [isDescending, false]) }

  /// Adds an entry. Not possible once ids were removed.
  public mutating func insert(_ place: EntryPlace) throws(FileError) {
    let key: Scratch.Key =
      switch place.key {
      case .unknown: .none
      case .number(let number): .real(number)
      case .text(let text): .bytes(text.bytes)
      }
    try ids.insert(place.id, by: key, place.id.scratchKey)
  }

  /// Removes and returns the ids of the next entries in order; fewer at the end.
  public mutating func removeFirst(_ count: Int) throws(FileError) -> [StoredResponse.ID] {
    if sorted == nil { sorted = try ids.removeAll() }
    var first: [StoredResponse.ID] = []
    while first.count < count, let id = try sorted?.next() { first.append(id) }
    return first
  }
}
