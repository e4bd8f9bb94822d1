/// The stored part of a body, compared with the announced length (RFC 9110 §8.6, §14.4).
public struct ReceivedBody: Hashable, Sendable {
  /// The number of stored bytes.
  public let bytes: Int64

  /// The size of the complete body in bytes.
  public let announced: Int64

  /// Compares the stored body with the announced length.
  ///
  /// `nil` if they cannot be compared: the response announced no length, or a content coding was removed, so that the
  /// length applies to other bytes than the stored ones.
  public init?(of exchange: borrowing Exchange) {
    guard let stored = exchange.bodyBytes else { return nil }
    if exchange.status == 206 {
      guard !exchange.fields.contains(.contentEncoding),
        let range = ContentRange(exchange.fields), let length = range.completeLength
      else { return nil }
      // Bytes beyond the announced range do not belong to the body.
      (bytes, announced) = (min(stored, range.length), length)
    } else {
      guard let length = exchange.announcedLength else { return nil }
      (bytes, announced) = (stored, length)
    }
  }

  /// The stored share in percent: less than 100 if any byte is missing, more than 100 if more bytes are stored than
  /// were announced.
  public var percent: Double {
    // An empty body of which nothing is stored is complete.
    guard announced > 0 else { return 100 }
    let percent = Double(bytes) * 100 / Double(announced)
    // Rounding must not show 100% while a byte is missing.
    return bytes < announced ? min(percent, (100 as Double).nextDown) : max(percent, 100)
  }

  /// The share in whole percent, rounded down, so that 100 means that no byte is missing.
  ///
  /// Clamped, because a cache can claim any size, and larger values would trap in the conversion.
  public var wholePercent: Int64 { Int64(min(percent, 9e18)) }
}
