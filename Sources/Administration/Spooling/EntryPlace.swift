public import Bytes
public import ResponseStorage

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

extension EntryPlace: Spoolable {
  var textBytes: Int {
    if case .text(let text) = key { text.bytes.count } else { 0 }
  }

  func pack(into values: inout PackedValues) {
    switch key {
    case .unknown: values.append(0)
    case .number(let number):
      values.append(1)
      values.append(number)
    case .text(let text):
      values.append(2)
      values.append(text)
    }
    values.append(id: id)
  }

  init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    key =
      switch try reader.number() {
      case 1: .number(try reader.real())
      case 2: .text(try reader.text())
      default: .unknown
      }
    id = try reader.id()
  }
}
