import Bytes

/// A value where a number of seconds is expected (RFC 9111 §1.2.2).
public enum DeltaSeconds: Hashable, Sendable {
  /// A number of seconds from 0 to ``limit``.
  case seconds(Int64)

  /// Anything other than digits, verbatim; may be empty.
  case invalid([UInt8])

  /// The maximum number of seconds. Larger numbers are clamped to it (RFC 9111 §1.2.2).
  // 2³¹ is the number that RFC 9111 §1.2.2 names for a value that is too large, about 68 years.
  public static let limit: Int64 = 2_147_483_648

  /// Parses decimal digits; any other byte makes the value invalid (RFC 9111 §1.2.2).
  public init(_ text: [UInt8]) {
    self.init(text.span)
  }

  /// Parses decimal digits; any other byte makes the value invalid (RFC 9111 §1.2.2).
  init(_ digits: Span<UInt8>) {
    guard !digits.isEmpty else {
      self = .invalid([])
      return
    }
    var value: Int64 = 0
    for index in digits.indices {
      let byte = digits[index]
      // `-1`, `+5`, `1.5` and `5s` are invalid, not almost valid: what a server meant by them can
      // only be guessed.
      guard byte.isASCIIDigit else {
        self = .invalid(Array(copying: digits))
        return
      }
      // The value was at most the limit before, so this cannot overflow.
      value = min(Self.limit, value * 10 + Int64(byte - UInt8(ascii: "0")))
    }
    self = .seconds(value)
  }

  /// The number of seconds, or `nil` if it is invalid (RFC 9111 §1.2.2).
  public var value: Int64? {
    guard case .seconds(let value) = self else { return nil }
    return value
  }
}

/// Arithmetic with seconds. For sizes, use `ByteCount`.
extension Int64 {
  /// The sum, clamped to the range of `Int64`: an age never wraps around (RFC 9111 §1.2.2).
  public func saturatingAdding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, clamped to the range of `Int64` (RFC 9111 §1.2.2).
  public func saturatingSubtracting(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

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
