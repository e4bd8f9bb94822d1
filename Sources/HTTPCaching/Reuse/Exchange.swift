/// A response that a cache has stored, the request that it answered, and when (RFC 9111 §3).
///
/// Times are in whole seconds since 1970-01-01 00:00:00 UTC, by the clock of the cache.
public struct Exchange: Hashable, Sendable {
  /// The request, or `nil` if the cache has not stored it.
  public let request: Request?

  /// The status code, or `nil` if it is not known.
  public let status: Int64?

  /// The header section of the response.
  public let fields: FieldSection

  /// When the request was sent; that of the response if the cache has not stored it
  /// (RFC 9111 §4.2.3).
  public let requestTime: Int64

  /// When the response was received (RFC 9111 §4.2.3).
  public let responseTime: Int64

  /// The request fields that `Vary` nominates, as they were when the response was stored, if the
  /// cache keeps them apart from the request; fields that were not sent are not in it
  /// (RFC 9111 §4.1).
  public let varyRecord: FieldSection?

  /// How many bytes of the body are stored, or `nil` if that is not known.
  public let bodyBytes: Int64?

  /// The directives of the response (RFC 9111 §5.2.2).
  public let directives: ResponseDirectives

  /// The header fields that freshness depends on.
  public let freshnessFields: FreshnessFields

  /// What the response was chosen by (RFC 9110 §12.5.5).
  public let vary: Vary

  /// Creates an exchange.
  public init(
    request: Request? = nil, status: Int64?, fields: FieldSection, requestTime: Int64? = nil,
    responseTime: Int64, varyRecord: FieldSection? = nil, bodyBytes: Int64? = nil
  ) {
    self.request = request
    self.status = status
    self.fields = fields
    self.requestTime = requestTime ?? responseTime
    self.responseTime = responseTime
    self.varyRecord = varyRecord
    self.bodyBytes = bodyBytes
    directives = ResponseDirectives(fields)
    freshnessFields = FreshnessFields(fields, receivedAt: responseTime)
    vary = Vary(fields)
  }

  /// The `Date` of the response (RFC 9110 §6.6.1).
  public var date: DateField { freshnessFields.date }

  /// When the response was generated: its `Date`, or when it was received, if it has no valid one
  /// (RFC 9110 §6.6.1, RFC 9111 §4.2.3).
  public var dateValue: Int64 { freshnessFields.dateValue }
}
