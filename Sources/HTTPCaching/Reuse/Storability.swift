import Bytes

/// Whether a private cache may store a response (RFC 9111 §3).
///
/// Storing is never required: a cache may decide not to store a response for reasons of its own.
public struct Storability: Hashable, Sendable {
  /// The first rule that forbids storing, or else the first that permits it.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    // Rules that forbid storing, in the order of evaluation.

    /// Responses to the method are not stored.
    case methodNotUnderstood = "method-not-understood"
    /// A response to `POST` needs an explicit lifetime and a `Content-Location` that equals the target URI.
    case postWithoutLocation = "post-without-location"
    /// The status is unknown.
    case unknownStatus = "unknown-status"
    /// The response is interim.
    case interimStatus = "interim-status"
    /// A 304 updates a stored response and is not stored itself.
    case notModified = "not-modified"
    /// The response has `must-understand` and a status that is not understood.
    case statusNotUnderstood = "status-not-understood"
    /// The response has `no-store`.
    case responseNoStore = "response-no-store"
    /// The request has `no-store`.
    case requestNoStore = "request-no-store"
    /// No rule permits storing.
    case notPermitted = "not-permitted"

    // Rules that permit storing, in the order of evaluation.

    /// The response is `public`.
    case isPublic = "public"
    /// The response is `private`, and the cache is private.
    case isPrivate = "private"
    /// The response has an `Expires`.
    case expires
    /// The response has a `max-age`.
    case maxAge = "max-age"
    /// The status is heuristically cacheable.
    case status
  }

  /// The first rule that forbids storing, or else the first that permits it.
  public let reason: Reason

  /// Remarks about directives that do not apply.
  public let fieldFindings: [FieldFinding]

  /// Evaluates the request and the response (RFC 9111 §3).
  ///
  /// An unknown request is treated as a `GET` without directives.
  public init(of exchange: borrowing Exchange) {
    let directives = exchange.directives
    // `must-understand` comes with a `no-store` for caches that do not know the directive. A cache that understands
    // both ignores the `no-store` (RFC 9111 §5.2.2.3).
    let isVoid =
      directives.noStore && directives.mustUnderstand
      && exchange.status.map(StatusCode.isUnderstood) ?? false
    fieldFindings = isVoid ? [FieldFinding(.noStoreVoid, .cacheControl)] : []
    // Rules that forbid come first, so that `no-store, max-age=60` is never explained by its
    // `max-age`.
    reason =
      Self.method(exchange) ?? Self.status(exchange)
      ?? (directives.noStore && !isVoid ? .responseNoStore : nil)
      ?? (exchange.request?.directives.noStore == true ? .requestNoStore : nil)
      ?? Self.permission(exchange) ?? .notPermitted
  }

  /// Whether the response may be stored (RFC 9111 §3).
  public var mayStore: Bool {
    switch reason {
    case .isPublic, .isPrivate, .expires, .maxAge, .status: true
    default: false
    }
  }
}

extension Storability {
  private static func method(_ exchange: borrowing Exchange) -> Reason? {
    guard let request = exchange.request else { return nil }
    if request.isGet || request.isHead { return nil }
    guard request.method == Request.post else { return .methodNotUnderstood }
    // An invalid `max-age` still overrides `Expires` (RFC 9111 §5.3).
    let isExplicit =
      exchange.directives.maxAge?.value != nil
      || exchange.directives.maxAge == nil
        && exchange.freshnessFields.expires.secondsSince1970 != nil
    let location = exchange.fields.firstValue(of: .contentLocation)
    // RFC 9110 §9.3.3.
    return isExplicit && location != nil && location == request.targetURI
      ? nil : .postWithoutLocation
  }

  private static func status(_ exchange: borrowing Exchange) -> Reason? {
    guard let status = exchange.status else { return .unknownStatus }
    guard StatusCode.isFinal(status) else { return .interimStatus }
    if status == 304 { return .notModified }
    if exchange.directives.mustUnderstand && !StatusCode.isUnderstood(status) {
      return .statusNotUnderstood
    }
    return nil
  }

  private static func permission(_ exchange: borrowing Exchange) -> Reason? {
    let directives = exchange.directives
    if directives.isPublic { return .isPublic }
    if directives.isPrivate != nil { return .isPrivate }
    // Even an `Expires` that is no date permits storing: it makes the response stale, which a
    // validation can change.
    if exchange.fields.contains(.expires) { return .expires }
    if directives.maxAge != nil { return .maxAge }
    return exchange.status.map(StatusCode.isHeuristicallyCacheable) == true ? .status : nil
  }
}

extension Storability.Reason {
  /// The section that applies.
  public var section: Section {
    switch self {
    case .methodNotUnderstood, .unknownStatus, .interimStatus, .notPermitted, .expires, .maxAge:
      .caching("3")
    case .postWithoutLocation: .semantics("9.3.3")
    case .notModified: .caching("4.3.3")
    case .statusNotUnderstood: .caching("5.2.2.3")
    case .responseNoStore: .caching("5.2.2.5")
    case .requestNoStore: .caching("5.2.1.5")
    case .isPublic: .caching("5.2.2.9")
    case .isPrivate: .caching("5.2.2.7")
    case .status: .semantics("15.1")
    }
  }
}

/// The properties of status codes that matter for caching (RFC 9110 §15).
public enum StatusCode {
  /// Whether a response with this status is final, not interim (RFC 9110 §15, RFC 9111 §3).
  public static func isFinal(_ status: Int64) -> Bool { status >= 200 }

  /// Whether a response with this status may have a heuristic lifetime (RFC 9110 §15.1).
  public static func isHeuristicallyCacheable(_ status: Int64) -> Bool {
    switch status {
    // 302 and 307 are not in the list: a temporary redirect needs an explicit lifetime.
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Whether this is a final status that RFC 9110 §15 defines: the test for `must-understand` (RFC 9111 §5.2.2.3).
  public static func isUnderstood(_ status: Int64) -> Bool {
    switch status {
    case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}

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
    if exchange.isKeyedByRange {
      let length = ContentRange(exchange.fields)?.length ?? 0
      return exchange.bodyBytes ?? length >= length ? .complete : .fragment
    }
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

extension StatusCode {
  /// Returns the recommended reason phrase of a status code (RFC 9110 §15 and the IANA registry); empty if the code is
  /// not registered.
  public static func phrase(of status: Int64) -> String {
    phrases[status] ?? ""
  }

  private static let phrases: [Int64: String] = [
    100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information",
    204: "No Content", 205: "Reset Content", 206: "Partial Content", 207: "Multi-Status",
    208: "Already Reported", 226: "IM Used",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other",
    304: "Not Modified", 305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable",
    407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content",
    423: "Locked", 424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required",
    428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    506: "Variant Also Negotiates", 507: "Insufficient Storage", 508: "Loop Detected",
    511: "Network Authentication Required",
  ]
}
