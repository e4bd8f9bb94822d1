public import Bytes
public import HTTPCaching
import ResponseStorage

/// What is asked about stored responses: as of when, for which request, and by whose rules.
public struct Inquiry: Hashable, Sendable {
  /// The moment.
  public var now: Timestamp

  /// Whose rules.
  public var platform: CachePlatform

  /// The policy of the request.
  public var policy = RequestCachePolicy.useProtocolCachePolicy

  /// Header fields of the request. The request is the stored one again, with the fields that `Vary` names;
  /// these take the place of those, and one without a value is not sent at all.
  public var fields: [FieldLine] = []

  /// The disk capacity that the application set, in bytes; a cache does not hold its own.
  public var capacityBytes: ByteCount?

  /// The expiries of an application's own.
  public var expiryRules = UserInfoExpiry.known

  /// The URLs that are asked for, if a Foundation store is asked for some.
  public var names: EntryNames?

  /// Creates an inquiry.
  public init(now: Timestamp, platform: CachePlatform) {
    self.now = now
    self.platform = platform
  }

  /// The request that is presented for a stored response.
  func request(for exchange: Exchange) -> Request {
    var lines: [FieldLine] = []
    if case .fields(let names) = exchange.vary,
      let sent = exchange.varyRecord ?? exchange.request?.fields
    {
      for name in names { lines += sent.lines.filter { name.matches($0) } }
    }
    if !fields.isEmpty {
      let replaced = Set(fields.map { FieldName(of: $0) })
      lines.removeAll { replaced.contains(FieldName(of: $0)) }
      lines += fields.filter { !$0.value.isEmpty }
    }
    return Request(
      method: exchange.request?.method ?? Request.get, targetURI: exchange.request?.targetURI,
      fields: FieldSection(lines))
  }
}
