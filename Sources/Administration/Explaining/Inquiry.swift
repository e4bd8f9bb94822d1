public import Bytes
public import HTTPCaching
import ResponseStorage

/// A question about stored responses: the time, the request, and the platform.
public struct Inquiry: Hashable, Sendable {
  /// The time.
  public var now: Timestamp

  /// The platform whose rules apply.
  public var platform: CachePlatform

  /// The request policy.
  public var policy = RequestCachePolicy.useProtocolCachePolicy

  /// Additional header fields of the request. The presented request is the stored one with the fields that `Vary`
  /// names; these fields replace them, and a field without a value is not sent.
  public var fields: [FieldLine] = []

  /// The disk capacity set by the app, in bytes; a cache does not record its own.
  public var capacityBytes: ByteCount?

  /// The expiry rules of the app.
  public var expiryRules = UserInfoExpiry.known

  /// The requested URLs, if the inquiry is about URLs in a Foundation store.
  public var names: EntryNames?

  /// Creates an inquiry.
  public init(now: Timestamp, platform: CachePlatform) {
    self.now = now
    self.platform = platform
  }

  /// Returns the request to present for a stored response.
  func request(for exchange: Exchange) -> Request {
    var lines: [FieldLine] = []
    if case .fields(let names) = exchange.vary,
      let sent = exchange.varyRecord ?? exchange.request?.fields
    {
      // Only these fields decide whether the stored response fits a request (RFC 9111 §4.1).
      // Nothing is known about the other fields of the next request.
      for name in names { lines += sent.lines.filter { name.matches($0) } }
    }
    if !fields.isEmpty {
      let replaced = Set(fields.map { FieldName(of: $0) })
      lines.removeAll { replaced.contains(FieldName(of: $0)) }
      // As in curl, `Name:` without a value leaves the field out.
      lines += fields.filter { !$0.value.isEmpty }
    }
    return Request(
      method: exchange.request?.method ?? Request.get, targetURI: exchange.request?.targetURI,
      fields: FieldSection(lines))
  }
}
