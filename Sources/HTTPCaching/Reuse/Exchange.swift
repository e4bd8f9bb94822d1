/// A stored response with the request that it answered and the times of both (RFC 9111 §3).
///
/// Times are whole seconds since 1970-01-01 00:00:00 UTC, by the clock of the cache.
public struct Exchange: Hashable, Sendable {
  /// The request, or `nil` if the cache has not stored it.
  public let request: Request?

  /// The status code, or `nil` if it is unknown.
  public let status: Int64?

  /// The header section of the response.
  public let fields: FieldSection

  /// The time at which the request was sent; the time of the response if the cache has not stored it (RFC 9111 §4.2.3).
  public let requestTime: Int64

  /// The time at which the response was received (RFC 9111 §4.2.3).
  public let responseTime: Int64

  /// The request fields that `Vary` nominates, as of when the response was stored, if the cache keeps them separately
  /// from the request. Fields that were not sent are not included (RFC 9111 §4.1).
  public let varyRecord: FieldSection?

  /// The number of bytes of the body that are stored, or `nil` if it is unknown.
  public let bodyBytes: Int64?

  /// The directives of the response (RFC 9111 §5.2.2).
  public let directives: ResponseDirectives

  /// The header fields that determine freshness.
  public let freshnessFields: FreshnessFields

  /// The request fields by which the response was selected (RFC 9110 §12.5.5).
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
    // Parsed once, because lifetime, validators and remarks all need them.
    directives = ResponseDirectives(fields)
    freshnessFields = FreshnessFields(fields, receivedAt: responseTime)
    vary = Vary(fields)
  }

  /// The `Date` of the response (RFC 9110 §6.6.1).
  public var date: DateField { freshnessFields.date }

  /// The time at which the response was generated: its `Date`, or the time of receipt if there is no valid `Date` (RFC
  /// 9110 §6.6.1, RFC 9111 §4.2.3).
  public var dateValue: Int64 { freshnessFields.dateValue }
}
