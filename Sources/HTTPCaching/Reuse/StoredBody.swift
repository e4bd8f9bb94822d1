import Bytes

/// How much of a body is stored (RFC 9111 §3.3).
public enum StoredBody: Hashable, Sendable {
  /// All of it, as far as can be told.
  case complete

  /// The first bytes, so many of them; the rest can be asked for.
  case start(bytes: Int64)

  /// Some other part, or nothing at all, so that all has to be asked for again.
  case fragment

  /// Compares what is stored with what the response announced (RFC 9110 §8.6, §14.4).
  ///
  /// Where a content coding has been removed, `Content-Length` says nothing about what is stored,
  /// and the body counts as complete. Only a 200 or a 206 can be completed (RFC 9111 §3.3).
  public init(of exchange: borrowing Exchange) {
    if exchange.status == 206 {
      self = Self.part(exchange)
      return
    }
    guard let stored = exchange.bodyBytes, let length = exchange.announcedLength, stored < length
    else {
      self = .complete
      return
    }
    self = stored > 0 && exchange.status == 200 ? .start(bytes: stored) : .fragment
  }

  private static func part(_ exchange: borrowing Exchange) -> StoredBody {
    guard let range = ContentRange(exchange.fields), range.first == 0 else { return .fragment }
    // What is stored may be less than what was sent.
    let bytes = min(exchange.bodyBytes ?? range.length, range.length)
    if range.completeLength == bytes { return .complete }
    // The positions are those of the coded body, and what is stored may have been decoded.
    guard !exchange.fields.contains(.contentEncoding) else { return .fragment }
    return bytes > 0 ? .start(bytes: bytes) : .fragment
  }

  /// The length that the response announced for what is stored; `nil` if it announced none, or of something else.
  fileprivate static func announcedLength(_ exchange: borrowing Exchange) -> Int64? {
    guard let status = exchange.status, exchange.request?.isHead != true, status != 204,
      status != 206, status != 304, !exchange.fields.contains(.contentEncoding)
    else { return nil }
    return exchange.fields.firstValue(of: .contentLength).flatMap(Self.number)
  }

  /// The number that digits write; `nil` for anything else, or a number beyond 64 bits.
  static func number(_ text: some Collection<UInt8>) -> Int64? {
    guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int64(String(decoding: text, as: UTF8.self))
  }
}

extension Exchange {
  /// The length that the response announced for the body that is stored, in bytes (RFC 9110 §8.6).
  ///
  /// `nil` if it announced none, or that of something else: of a part, of what HEAD asks about, or of a coded body
  /// whose coding has been removed.
  public var announcedLength: Int64? { StoredBody.announcedLength(self) }
}
