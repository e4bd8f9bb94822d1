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
