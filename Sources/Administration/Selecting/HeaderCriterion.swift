public import Bytes
public import Matching
public import ResponseStorage
import Secrets

/// A criterion for a header field: that it is there, or that its value matches a pattern.
public struct HeaderCriterion: Hashable, Sendable {
  /// The name, in any case.
  public var name: ByteString
  /// A pattern for the whole value of one of the lines with this name, or for all of them joined; `nil` for any value.
  public var value: Glob?

  /// Creates a criterion.
  public init(name: ByteString, value: Glob? = nil) { (self.name, self.value) = (name, value) }

  /// Parses `NAME` or `NAME=PATTERN`, split at the first `=`.
  public init(written text: String) throws(WrittenValueError) {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    // A name without a colon, as users copy 'Name: value' from other tools.
    guard parts[0].isToken else {
      throw WrittenValueError(
        text, "does not name a header field",
        hint: "use 'NAME' or 'NAME=PATTERN', for example 'x-cache=HIT*'")
    }
    name = ByteString(Array(parts[0]))
    value =
      try parts.count > 1
      ? Glob(written: String(decoding: Array(parts[1]), as: UTF8.self)) : nil
  }

  /// Whether header fields contain a matching one.
  func holds(in headers: HeaderFields?) -> Bool {
    guard let values = headers?.values(named: name), !values.isEmpty else { return false }
    guard let value else { return true }
    return values.contains { value.matches($0) }
  }
}

extension HeaderFields {
  /// Returns the values of the fields with a name, in any case; several lines also as one value (RFC 9110 §5.3).
  func values(named name: ByteString) -> [ByteString] {
    let values = fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
    guard values.count > 1 else { return values }
    return values + [ByteString(Array(values.map(\.bytes).joined(separator: ", ".utf8)))]
  }
}

/// A required query parameter of a URL.
public struct ParameterCriterion: Hashable, Sendable {
  /// The name, percent-decoded and compared by bytes.
  public var name: ByteString
  /// The value, percent-decoded and compared by bytes; `nil` for any.
  public var value: ByteString?

  /// Creates a criterion.
  public init(name: ByteString, value: ByteString? = nil) {
    self.name = name
    self.value = value
  }

  /// Parses `NAME` or `NAME=VALUE`, split at the first `=`; neither is percent-decoded.
  public init(written text: String) throws(WrittenValueError) {
    let bytes = Array(text.utf8)
    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
    guard equals > 0 else {
      throw WrittenValueError(text, "does not name a parameter", hint: "use 'NAME' or 'NAME=VALUE'")
    }
    self.init(
      name: ByteString(Array(bytes[..<equals])),
      value: equals < bytes.endIndex ? ByteString(Array(bytes[(equals + 1)...])) : nil)
  }

  /// Whether a URL has the parameter; one matching value of a repeated parameter is enough.
  public func holds(in url: ByteString) -> Bool {
    let values = URLQuery.values(of: name, in: url)
    return value.map { values.contains($0) } ?? !values.isEmpty
  }
}

/// The query parameters of a URL in form encoding: `a=1&b=2` (URL Standard §5.1).
public enum URLQuery {
  /// Returns the values of all parameters with a name, in order; a parameter without `=` has an empty value.
  ///
  /// Names and values are compared and returned percent-decoded, with `+` for a space.
  ///
  /// - Complexity: O(*n*), where *n* is the number of bytes.
  public static func values(of name: ByteString, in url: ByteString) -> [ByteString] {
    URLParts(url.bytes).parameters.compactMap { parameter in
      guard URLSecrets.percentDecoded(parameter.name) == name.bytes else { return nil }
      return ByteString(URLSecrets.percentDecoded(parameter.value ?? []))
    }
  }
}

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
