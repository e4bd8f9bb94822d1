/// A reason to use or not to use a stored response for a request (RFC 9111 §4).
public enum ReuseReason: Hashable, Sendable {
  // The stored response belongs to another request.

  /// It was stored for another URL.
  case otherTarget
  /// It answered another method.
  case otherMethod
  /// It has `no-store`, so a cache must neither store it nor use it for another request.
  case responseNoStore
  /// It has `must-understand`, and its status is not understood, so a cache must not store it.
  case statusNotUnderstood
  /// `Vary: *`.
  case varyNever
  /// Fields that `Vary` names differ.
  case varyDiffers([VaryMatch.Difference])
  /// The fields that `Vary` names were not stored.
  case varyUnknown([FieldName])

  // The response must be validated.

  /// Part of the body is missing.
  case incomplete(StoredBody)
  /// The response has `no-cache`.
  case responseNoCache
  /// The request has `no-cache`.
  case requestNoCache
  /// The request has `Pragma: no-cache` and no `Cache-Control`.
  case requestPragma
  /// The response is older than the request allows: `limit` seconds.
  case tooOld(age: Int64, limit: Int64)
  /// The response will not be fresh for as long as the request demands: `limit` seconds.
  case notFreshEnough(remaining: Int64, limit: Int64)
  /// It is stale and has `must-revalidate`.
  case staleMustRevalidate(seconds: Int64)
  /// It has been stale for longer than `max-stale` permits.
  case tooStale(seconds: Int64, limit: Int64)
  /// It is stale.
  case stale(seconds: Int64)
  /// It has no lifetime, so it is stale.
  case noLifetime(FreshnessLifetime.NoLifetime)

  // The response is used.

  /// It is fresh for a number of seconds.
  case fresh(seconds: Int64)
  /// It is stale, but `max-stale` permits its use.
  case maxStalePermits(seconds: Int64)
  /// It is stale, but may be used while it is validated.
  case revalidatesMeanwhile(seconds: Int64)

  /// The section that applies.
  public var section: Section {
    switch self {
    case .otherTarget, .otherMethod: .caching("4")
    case .responseNoStore: .caching("5.2.2.5")
    case .statusNotUnderstood: .caching("5.2.2.3")
    case .varyNever, .varyDiffers, .varyUnknown: .caching("4.1")
    case .incomplete: .caching("3.3")
    case .responseNoCache: .caching("5.2.2.4")
    case .requestNoCache: .caching("5.2.1.4")
    // RFC 9111 §5.4 deprecates `Pragma`, and no longer says what it does.
    case .requestPragma: Section(rfc: 7234, "5.4")
    case .tooOld: .caching("5.2.1.1")
    case .notFreshEnough: .caching("5.2.1.3")
    case .staleMustRevalidate: .caching("5.2.2.2")
    case .tooStale, .maxStalePermits: .caching("5.2.1.2")
    case .stale: .caching("4.2.4")
    case .noLifetime: .caching("4.2.2")
    case .fresh: .caching("4.2")
    case .revalidatesMeanwhile: .staleContent("3")
    }
  }
}

extension ReuseReason {
  /// Returns the reason why the stored response does not belong to the request, or `nil` if it does (RFC 9111 §4).
  static func unfit(_ exchange: borrowing Exchange, _ request: Request, _ vary: VaryMatch)
    -> ReuseReason?
  {
    if let stored = exchange.request {
      if let target = request.targetWithoutFragment, let ours = stored.targetWithoutFragment,
        target != ours
      {
        return .otherTarget
      }
      // A response to GET contains everything that a response to HEAD does.
      // A stored HEAD has no body to answer a GET with.
      guard stored.isGet || request.isHead && stored.isHead else { return .otherMethod }
    }
    guard request.isGet || request.isHead else { return .otherMethod }
    if let reason = forbiddance(exchange) { return reason }
    switch vary {
    case .nothingNominated, .matches: return nil
    case .never: return .varyNever
    case .differs(let differences): return .varyDiffers(differences)
    case .unknown(let names): return .varyUnknown(names)
    }
  }

  /// Returns the reason why a cache must not have stored the response, or `nil` if it may have.
  static func forbiddance(_ exchange: borrowing Exchange) -> ReuseReason? {
    let directives = exchange.directives
    guard directives.noStore || directives.mustUnderstand else { return nil }
    let isUnderstood = exchange.status.map(StatusCode.isUnderstood) ?? false
    if directives.mustUnderstand { return isUnderstood ? nil : .statusNotUnderstood }
    return .responseNoStore
  }

  /// Returns the reasons to validate, in the order of RFC 9111 §4; empty if there are none.
  static func against(
    _ exchange: borrowing Exchange, _ presented: Request, _ request: RequestDirectives,
    _ freshness: Freshness, _ stale: StaleUse
  ) -> [ReuseReason] {
    let body = StoredBody(of: exchange)
    var reasons: [ReuseReason] = []
    // A response to HEAD needs no body.
    if body != .complete, !presented.isHead { reasons.append(.incomplete(body)) }
    // The qualified form only restricts the named fields (RFC 9111 §5.2.2.4).
    if exchange.directives.noCache == .wholeResponse { reasons.append(.responseNoCache) }
    if request.noCache { reasons.append(.requestNoCache) }
    if request.pragmaNoCache { reasons.append(.requestPragma) }
    if let limit = request.maxAge, freshness.age.seconds > limit {
      reasons.append(.tooOld(age: freshness.age.seconds, limit: limit))
    }
    if let limit = request.minFresh,
      // Compared as a sum: the remaining seconds are 0 for every stale response, however long it
      // has been stale.
      freshness.lifetime.seconds < freshness.age.seconds.saturatingAdding(limit)
    {
      reasons.append(.notFreshEnough(remaining: freshness.remainingSeconds, limit: limit))
    }
    if !freshness.isFresh, let reason = staleness(request, freshness, stale) {
      reasons.append(reason)
    }
    return reasons
  }

  /// Returns the reason why a stale response may not be used, or `nil` if it may be (RFC 9111 §4.2.4).
  private static func staleness(
    _ request: RequestDirectives, _ freshness: Freshness, _ stale: StaleUse
  ) -> ReuseReason? {
    let seconds = freshness.staleSeconds
    // `must-revalidate` is stronger than `max-stale` (RFC 9111 §5.2.2.2).
    if stale.prohibition == .mustRevalidate { return .staleMustRevalidate(seconds: seconds) }
    if stale.prohibition == nil {
      if let slack = request.maxStale, slack.permits(seconds) { return nil }
      // A request with `max-age` accepts no stale response unless it also has `max-stale` (RFC 9111 §5.2.1.1).
      if request.maxAge == nil, stale.whileRevalidating?.isOpen == true { return nil }
      if case .seconds(let limit)? = request.maxStale {
        return .tooStale(seconds: seconds, limit: limit)
      }
    }
    if case .none(let reason) = freshness.lifetime.basis { return .noLifetime(reason) }
    return .stale(seconds: seconds)
  }
}
