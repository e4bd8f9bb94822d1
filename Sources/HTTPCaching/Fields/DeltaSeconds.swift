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
