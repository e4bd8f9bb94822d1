public import Bytes
public import ResponseStorage

/// What one of the properties that were stored beside a response has to be.
public struct PropertyCriterion: Hashable, Sendable {
  /// The key that must be there.
  public var key: ByteString

  /// The value under the key, in words; `nil` for any.
  ///
  /// Text is compared by bytes, numbers by what they are worth, and `true` and `false` are themselves.
  /// Data, lists and dictionaries equal no words.
  public var value: ByteString?

  /// The moment that a date under the key must be, to the second.
  public var moment: Timestamp?

  /// Creates a criterion.
  public init(key: ByteString, value: ByteString? = nil, moment: Timestamp? = nil) {
    self.key = key
    self.value = value
    self.moment = moment
  }

  /// Whether there is the key among the properties, with the value.
  public func holds(in properties: [StoredResponse.Property]) -> Bool {
    guard let found = properties.value(for: key) else { return false }
    guard let value else { return true }
    return found.equals(value, moment)
  }
}

extension StoredResponse.PropertyValue {
  /// Whether the value is what a text says, as in ``PropertyCriterion/value``.
  ///
  /// - Parameter moment: The moment that the text stands for, for a date.
  func equals(_ text: ByteString, _ moment: Timestamp?) -> Bool {
    switch self {
    case .text(let found): found == text
    case .boolean(let flag): text == (flag ? "true" : "false")
    case .integer(let number): text.string.flatMap { Int64($0) } == number
    case .real(let number): text.string.flatMap { Double($0) } == number
    case .date(let time): time.wholeSeconds == moment?.wholeSeconds
    case .null, .data, .array, .dictionary, .opaque: false
    }
  }
}
