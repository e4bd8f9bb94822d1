import Bytes

/// A value where a number of seconds is expected (RFC 9111 §1.2.2).
public enum DeltaSeconds: Hashable, Sendable {
  /// A number of seconds from 0 to ``limit``.
  case seconds(Int64)

  /// Anything other than digits, verbatim; may be empty.
  case invalid([UInt8])

  /// The maximum number of seconds. Larger numbers are clamped to it (RFC 9111 §1.2.2).
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
