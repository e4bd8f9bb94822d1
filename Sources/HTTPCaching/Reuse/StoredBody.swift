import Bytes

/// How much of a body is stored (RFC 9111 §3.3).
public enum StoredBody: Hashable, Sendable {
  /// All of it, as far as is known.
  case complete

  /// The first `bytes` bytes. The rest can be requested.
  case start(bytes: Int64)

  /// Another part, or nothing: the whole body must be requested again.
  case fragment

  /// Compares the stored body with the announced length (RFC 9110 §8.6, §14.4).
  ///
  /// If a content coding was removed, `Content-Length` does not apply to the stored bytes, and the body counts as
  /// complete. Only a 200 or a 206 can be completed (RFC 9111 §3.3).
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
    // Without a byte there is nothing to complete, and `Range: bytes=0-` asks for everything
    // anyway.
    self = stored > 0 && exchange.status == 200 ? .start(bytes: stored) : .fragment
  }

  private static func part(_ exchange: borrowing Exchange) -> StoredBody {
    // Only a beginning can be completed, by a request for the bytes after it.
    guard let range = ContentRange(exchange.fields), range.first == 0 else { return .fragment }
    // Less may be stored than was sent.
    let bytes = min(exchange.bodyBytes ?? range.length, range.length)
    if range.completeLength == bytes { return .complete }
    // Positions refer to the coded body, but the stored bytes may have been decoded.
    guard !exchange.fields.contains(.contentEncoding) else { return .fragment }
    return bytes > 0 ? .start(bytes: bytes) : .fragment
  }

  /// The announced length of the stored bytes; `nil` if the response announced none, or the length of other bytes.
  fileprivate static func announcedLength(_ exchange: borrowing Exchange) -> Int64? {
    // These responses have no body, or `Content-Length` is not the length of the stored bytes.
    guard let status = exchange.status, exchange.request?.isHead != true, status != 204,
      status != 206, status != 304, !exchange.fields.contains(.contentEncoding)
    else { return nil }
    // Recorders and some caches keep a redirect without its body, which clients do not read.
    if 300...399 ~= status, exchange.bodyBytes == 0 { return nil }
    return exchange.fields.firstValue(of: .contentLength).flatMap(Self.number)
  }

  /// Parses decimal digits; `nil` for anything else, or a number beyond 64 bits.
  static func number(_ text: some Collection<UInt8>) -> Int64? {
    guard !text.isEmpty, text.allSatisfy(\.isASCIIDigit) else { return nil }
    return Int64(String(decoding: text, as: UTF8.self))
  }
}

extension Exchange {
  /// The announced length in bytes of the stored body (RFC 9110 §8.6).
  ///
  /// `nil` if the response announced none, or the length of other bytes: of a part, of the body that HEAD omits, or of
  /// a coded body whose coding was removed.
  public var announcedLength: Int64? { StoredBody.announcedLength(self) }
}
