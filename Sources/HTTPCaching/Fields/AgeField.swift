/// The `Age` of a response: how long it has been in other caches (RFC 9111 §5.1).
public enum AgeField: Hashable, Sendable {
  /// The response has no `Age`, or an empty one.
  case absent

  /// A number of seconds, never negative.
  case seconds(Int64)

  /// A value that is not a number, verbatim. It is ignored.
  case invalid([UInt8])

  /// Reads the first member of the first line; the rest is ignored (RFC 9111 §5.1).
  public init(_ fields: FieldSection) {
    guard let value = fields.firstValue(of: .age) else {
      self = .absent
      return
    }
    self.init(value.span)
  }

  /// Reads the first member of a line without surrounding white space (RFC 9111 §5.1).
  init(_ value: Span<UInt8>) {
    var end = 0
    // Caches that add a line instead of replacing the value make `Age: 7200, 0` of it once the
    // lines are joined. RFC 9111 §5.1 lets a recipient use the first member.
    while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
    switch DeltaSeconds(value.extracting(value.trimmedRange(in: 0..<end))) {
    case .seconds(let seconds): self = .seconds(seconds)
    case .invalid: self = .invalid(Array(copying: value))
    }
  }

  /// The `age_value` of RFC 9111 §4.2.3: 0 if the field is absent or invalid.
  public var ageValue: Int64 {
    // An invalid value is ignored, as RFC 9111 §5.1 asks, and does not make the response stale.
    guard case .seconds(let seconds) = self else { return 0 }
    return seconds
  }
}
