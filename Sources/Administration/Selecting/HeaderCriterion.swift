public import Bytes
public import Matching
import ResponseStorage

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
