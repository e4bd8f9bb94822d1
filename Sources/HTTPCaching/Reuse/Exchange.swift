import Bytes

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

  /// Whether the cache uses the response for requests with the same `Range` only, as WebKit does. RFC 9111 has no such
  /// key: there, a part is an incomplete response.
  public var isKeyedByRange = false

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

/// The parts of a request that matter for caching (RFC 9111 §2).
public struct Request: Hashable, Sendable {
  /// The method, which is case-sensitive (RFC 9110 §9.1).
  public var method: [UInt8]

  /// The target URI, or `nil` if it is not to be compared (RFC 9110 §7.1).
  public var targetURI: [UInt8]?

  /// The header section.
  public var fields: FieldSection

  /// Creates a request.
  public init(
    method: [UInt8] = Request.get, targetURI: [UInt8]? = nil, fields: FieldSection = FieldSection()
  ) {
    self.method = method
    self.targetURI = targetURI
    self.fields = fields
  }

  /// `GET` (RFC 9110 §9.3.1).
  public static let get = Array("GET".utf8)

  /// `HEAD` (RFC 9110 §9.3.2).
  public static let head = Array("HEAD".utf8)

  /// `POST` (RFC 9110 §9.3.3).
  public static let post = Array("POST".utf8)

  /// Whether this is a `GET`.
  public var isGet: Bool { method.elementsEqual("GET".utf8) }

  /// Whether this is a `HEAD`.
  public var isHead: Bool { method.elementsEqual("HEAD".utf8) }

  /// The directives of the request (RFC 9111 §5.2.1).
  public var directives: RequestDirectives { RequestDirectives(fields) }

  /// The target URI without its fragment, which is not part of a cache key (RFC 9110 §7.1).
  var targetWithoutFragment: ArraySlice<UInt8>? {
    // CFNetwork keeps the fragment in its keys, but the target URI of a request has none (RFC 9110
    // §7.1).
    targetURI.map { URLParts($0).withoutFragment }
  }
}

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
