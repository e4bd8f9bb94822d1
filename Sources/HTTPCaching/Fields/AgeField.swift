/// What the `Age` of a response says: how long it had been in other caches (RFC 9111 §5.1).
public enum AgeField: Hashable, Sendable {
  /// The response has no such field, or an empty one.
  case absent

  /// A number of seconds, not less than zero.
  case seconds(Int64)

  /// Something that is no number, verbatim; it is ignored.
  case invalid([UInt8])

  /// Reads the first member of the first line; what follows is ignored (RFC 9111 §5.1).
  public init(_ fields: FieldSection) {
    guard let value = fields.firstValue(of: .age) else {
      self = .absent
      return
    }
    self.init(value.span)
  }

  /// Reads the first member of a line, which has no white space around it (RFC 9111 §5.1).
  init(_ value: Span<UInt8>) {
    var end = 0
    while end < value.count, value[end] != UInt8(ascii: ",") { end += 1 }
    switch DeltaSeconds(value.extracting(value.trimmedRange(in: 0..<end))) {
    case .seconds(let seconds): self = .seconds(seconds)
    case .invalid: self = .invalid(Array(copying: value))
    }
  }

  /// The `age_value` of RFC 9111 §4.2.3: 0 if the field is absent or invalid.
  public var ageValue: Int64 {
    guard case .seconds(let seconds) = self else { return 0 }
    return seconds
  }
}
