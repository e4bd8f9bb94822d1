/// A date in a header field (RFC 9110 §5.6.7).
public enum DateField: Hashable, Sendable {
  /// The message has no such field.
  case absent

  /// A date, in seconds since 1970-01-01 00:00:00 UTC.
  case date(Int64)

  /// A value that is not a date, verbatim.
  case invalid([UInt8])

  /// Reads the first line of a field (RFC 9111 §4.2.1).
  ///
  /// - Parameter now: The moment that resolves years of two digits, in seconds since 1970.
  public init(_ name: FieldName, in fields: FieldSection, now: Int64) {
    // The first of two `Expires` is one of the two choices that RFC 9111 §4.2.1 leaves; the other
    // is to call the response stale.
    guard let value = fields.firstValue(of: name) else {
      self = .absent
      return
    }
    self.init(value.span, now: now)
  }

  /// Reads a line without surrounding white space.
  init(_ value: Span<UInt8>, now: Int64) {
    self =
      HTTPDate.secondsSince1970(value, now: now).map { .date($0) }
      ?? .invalid(Array(copying: value))
  }

  /// The date in seconds since 1970, or `nil` if the field is absent or invalid (RFC 9110 §5.6.7).
  public var secondsSince1970: Int64? {
    guard case .date(let seconds) = self else { return nil }
    return seconds
  }
}
