public import Bytes
public import ResponseStorage

/// A required property in the `userInfo` of a response.
public struct PropertyCriterion: Hashable, Sendable {
  /// The required key.
  public var key: ByteString

  /// The required value as text; `nil` for any.
  ///
  /// Text is compared by bytes, numbers by value, and Booleans as `true` and `false`. Data, arrays and dictionaries
  /// never match.
  public var value: ByteString?

  /// The required time, if the value is a date; compared to the second.
  public var moment: Timestamp?

  /// Creates a criterion.
  public init(key: ByteString, value: ByteString? = nil, moment: Timestamp? = nil) {
    self.key = key
    self.value = value
    self.moment = moment
  }

  /// Whether the properties contain the key, with the value.
  public func holds(in properties: [StoredResponse.Property]) -> Bool {
    guard let found = properties.value(for: key) else { return false }
    guard let value else { return true }
    return found.equals(value, moment)
  }
}

extension StoredResponse.PropertyValue {
  /// Whether the value equals a text, as defined by ``PropertyCriterion/value``.
  ///
  /// - Parameter moment: The time in the text, for comparing dates.
  func equals(_ text: ByteString, _ moment: Timestamp?) -> Bool {
    switch self {
    case .text(let found): found == text
    case .boolean(let flag): text == (flag ? "true" : "false")
    // As an integer, because ids of 64 bits are common, and `Double` would make different ones
    // equal.
    case .integer(let number): text.string.flatMap { Int64($0) } == number
    case .real(let number): text.string.flatMap { Double($0) } == number
    // Property lists store fractions of a second, which users neither see nor write.
    case .date(let time): time.wholeSeconds == moment?.wholeSeconds
    case .null, .data, .array, .dictionary, .opaque: false
    }
  }
}
