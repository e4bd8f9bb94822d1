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
  /// and the body counts as complete.
  public init(of exchange: borrowing Exchange) {
    if exchange.status == 206 {
      self = Self.part(exchange)
      return
    }
    guard let stored = exchange.bodyBytes, let status = exchange.status,
      exchange.request?.isHead != true, status != 204, status != 304,
      !exchange.fields.contains(.contentEncoding),
      let length = exchange.fields.firstValue(of: .contentLength).flatMap(Self.number),
      stored < length
    else {
      self = .complete
      return
    }
    self = stored > 0 ? .start(bytes: stored) : .fragment
  }

  /// Reads `Content-Range: bytes 0-499/1234` (RFC 9110 §14.4).
  private static func part(_ exchange: borrowing Exchange) -> StoredBody {
    guard let value = exchange.fields.firstValue(of: .contentRange),
      value.prefix(5).equalsIgnoringCase("bytes"), value.dropFirst(5).first == space
    else { return .fragment }
    let parts = value.dropFirst(6).split(separator: slash, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts.first, let last = parts.last else { return .fragment }
    let range = first.split(separator: dash, omittingEmptySubsequences: false).map(number)
    guard range.count == 2, range[0] == 0, let end = range[1] else { return .fragment }
    // What is stored may be less than what was sent.
    let announced = end.saturatingAdding(1)
    let bytes = min(exchange.bodyBytes ?? announced, announced)
    if number(last) == bytes { return .complete }
    return bytes > 0 ? .start(bytes: bytes) : .fragment
  }

  /// The number that digits write; `nil` for anything else, or a number beyond 64 bits.
  private static func number(_ text: some Collection<UInt8>) -> Int64? {
    guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
    return Int64(String(decoding: text, as: UTF8.self))
  }

  private static let space = UInt8(ascii: " ")
  private static let slash = UInt8(ascii: "/")
  private static let dash = UInt8(ascii: "-")
}
