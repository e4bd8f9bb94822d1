/// How much of a body is stored, of how much the response announced (RFC 9110 §8.6, §14.4).
public struct ReceivedBody: Hashable, Sendable {
  /// The number of bytes that are stored.
  public let bytes: Int64

  /// The number of bytes that the whole body has.
  public let announced: Int64

  /// Compares what is stored with what the response announced.
  ///
  /// `nil` if that cannot be compared: where the response announced no length, or a content coding has been
  /// removed, so that the length is that of other bytes than the stored.
  public init?(of exchange: borrowing Exchange) {
    guard let stored = exchange.bodyBytes else { return nil }
    if exchange.status == 206 {
      guard !exchange.fields.contains(.contentEncoding),
        let range = ContentRange(exchange.fields), let length = range.completeLength
      else { return nil }
      (bytes, announced) = (min(stored, range.length), length)
    } else {
      guard let length = exchange.announcedLength else { return nil }
      (bytes, announced) = (stored, length)
    }
  }

  /// The share that is stored, in percent: less than 100 where a byte is missing, more where there are more
  /// than were announced.
  public var percent: Double {
    guard announced > 0 else { return 100 }
    let percent = Double(bytes) * 100 / Double(announced)
    return bytes < announced ? min(percent, (100 as Double).nextDown) : max(percent, 100)
  }

  /// The share in whole percent, rounded down: 100 only where no byte is missing.
  public var wholePercent: Int64 { Int64(min(percent, 9e18)) }
}
