import Bytes

/// What stands where a number of seconds is due (RFC 9111 §1.2.2).
public enum DeltaSeconds: Hashable, Sendable {
  /// A number of seconds: not less than zero, and at most ``limit``.
  case seconds(Int64)

  /// Anything but digits, verbatim; empty if there was nothing.
  case invalid([UInt8])

  /// The greatest number of seconds; a greater one counts as this (RFC 9111 §1.2.2).
  public static let limit: Int64 = 2_147_483_648

  /// Reads digits, and nothing but digits (RFC 9111 §1.2.2).
  public init(_ text: [UInt8]) {
    self.init(text.span)
  }

  /// Reads digits, and nothing but digits (RFC 9111 §1.2.2).
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
      // The value is at most the limit before, so this does not overflow.
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
