/// Whether a private cache may store a response (RFC 9111 §3).
///
/// To store one is never a duty: a cache may have reasons of its own not to.
public struct Storability: Hashable, Sendable {
  /// The first rule against it, or what permits it.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    // Against it, in the order in which they are looked at.

    /// The method is none whose responses are stored.
    case methodNotUnderstood = "method-not-understood"
    /// A response to `POST` needs a lifetime, and a `Content-Location` that is the target.
    case postWithoutLocation = "post-without-location"
    /// The status is not known.
    case unknownStatus = "unknown-status"
    /// The response is an interim one.
    case interimStatus = "interim-status"
    /// A 304 updates a stored response; it is not stored itself.
    case notModified = "not-modified"
    /// `must-understand`, and a status that is not understood.
    case statusNotUnderstood = "status-not-understood"
    /// The response says `no-store`.
    case responseNoStore = "response-no-store"
    /// The request said `no-store`.
    case requestNoStore = "request-no-store"
    /// Nothing of what permits it is there.
    case notPermitted = "not-permitted"

    // For it, in the order in which they are looked at.

    /// The response is `public`.
    case isPublic = "public"
    /// The response is `private`, as the cache is.
    case isPrivate = "private"
    /// The response has an `Expires`.
    case expires
    /// The response has a `max-age`.
    case maxAge = "max-age"
    /// The status is one that may be stored without any of these.
    case status
  }

  /// The first rule against it, or what permits it.
  public let reason: Reason

  /// What was made void.
  public let remarks: [Remark]

  /// Looks at the request and the response (RFC 9111 §3).
  ///
  /// A request that is not known counts as a `GET` without directives.
  public init(of exchange: borrowing Exchange) {
    let directives = exchange.directives
    // Whoever says `must-understand` means `no-store` for those who do not (RFC 9111 §5.2.2.3).
    let isVoid =
      directives.noStore && directives.mustUnderstand
      && exchange.status.map(StatusCode.isUnderstood) ?? false
    remarks = isVoid ? [Remark(.noStoreVoid, .cacheControl)] : []
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
    if exchange.fields.contains(.expires) { return .expires }
    if directives.maxAge != nil { return .maxAge }
    return exchange.status.map(StatusCode.isHeuristicallyCacheable) == true ? .status : nil
  }
}

extension Storability.Reason {
  /// The section that decides it.
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
