/// Why a stored response is used for a request, or is not (RFC 9111 §4).
public enum ReuseReason: Hashable, Sendable {
  // The stored response is not that of this request.

  /// It was stored for another URL.
  case otherTarget
  /// It answered another method.
  case otherMethod
  /// `Vary: *`.
  case varyNever
  /// Fields that `Vary` names differ.
  case varyDiffers([VaryMatch.Difference])
  /// The fields that `Vary` names are not stored.
  case varyUnknown([FieldName])

  // It has to be validated.

  /// Part of the body is missing.
  case incomplete(StoredBody)
  /// The response says `no-cache`.
  case responseNoCache
  /// The request says `no-cache`.
  case requestNoCache
  /// The request says `Pragma: no-cache`, and has no `Cache-Control`.
  case requestPragma
  /// The request wants none that is older than `limit` seconds.
  case tooOld(age: Int64, limit: Int64)
  /// The request wants one that is fresh for `limit` seconds more.
  case notFreshEnough(remaining: Int64, limit: Int64)
  /// It is stale, and says `must-revalidate`.
  case staleMustRevalidate(seconds: Int64)
  /// It is staler than `max-stale` permits.
  case tooStale(seconds: Int64, limit: Int64)
  /// It is stale.
  case stale(seconds: Int64)
  /// It has no lifetime, so that it is stale.
  case noLifetime(FreshnessLifetime.NoLifetime)

  // It is used.

  /// It is fresh, for so many seconds more.
  case fresh(seconds: Int64)
  /// It is stale, but the request permits it.
  case maxStalePermits(seconds: Int64)
  /// It is stale, but may be used while it is validated.
  case revalidatesMeanwhile(seconds: Int64)

  /// The section that decides it.
  public var section: Section {
    switch self {
    case .otherTarget, .otherMethod: .caching("4")
    case .varyNever, .varyDiffers, .varyUnknown: .caching("4.1")
    case .incomplete: .caching("3.3")
    case .responseNoCache: .caching("5.2.2.4")
    case .requestNoCache: .caching("5.2.1.4")
    case .requestPragma: .caching("5.4")
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
  /// Why the stored response is not that of the request, if it is not (RFC 9111 §4).
  static func unfit(_ exchange: borrowing Exchange, _ request: Request, _ vary: VaryMatch)
    -> ReuseReason?
  {
    if let stored = exchange.request {
      if let target = request.targetWithoutFragment, let ours = stored.targetWithoutFragment,
        target != ours
      {
        return .otherTarget
      }
      // What answers GET has all that answers HEAD.
      guard stored.isGet || request.isHead && stored.isHead else { return .otherMethod }
    }
    guard request.isGet || request.isHead else { return .otherMethod }
    switch vary {
    case .nothingNominated, .matches: return nil
    case .never: return .varyNever
    case .differs(let differences): return .varyDiffers(differences)
    case .unknown(let names): return .varyUnknown(names)
    }
  }

  /// What asks for validation, in the order of RFC 9111 §4; empty if nothing does.
  static func against(
    _ exchange: borrowing Exchange, _ presented: Request, _ request: RequestDirectives,
    _ freshness: Freshness, _ stale: StaleUse
  ) -> [ReuseReason] {
    let body = StoredBody(of: exchange)
    var reasons: [ReuseReason] = []
    // What answers HEAD needs no body.
    if body != .complete, !presented.isHead { reasons.append(.incomplete(body)) }
    if exchange.directives.noCache == .wholeResponse { reasons.append(.responseNoCache) }
    if request.noCache { reasons.append(.requestNoCache) }
    if request.pragmaNoCache { reasons.append(.requestPragma) }
    if let limit = request.maxAge, freshness.age.seconds > limit {
      reasons.append(.tooOld(age: freshness.age.seconds, limit: limit))
    }
    if let limit = request.minFresh,
      freshness.lifetime.seconds < freshness.age.seconds.saturatingAdding(limit)
    {
      reasons.append(.notFreshEnough(remaining: freshness.remainingSeconds, limit: limit))
    }
    if !freshness.isFresh, let reason = staleness(request, freshness, stale) {
      reasons.append(reason)
    }
    return reasons
  }

  /// Why a stale response may not be used, if it may not (RFC 9111 §4.2.4).
  private static func staleness(
    _ request: RequestDirectives, _ freshness: Freshness, _ stale: StaleUse
  ) -> ReuseReason? {
    let seconds = freshness.staleSeconds
    if stale.prohibition == .mustRevalidate { return .staleMustRevalidate(seconds: seconds) }
    if stale.prohibition == nil {
      if let slack = request.maxStale, slack.permits(seconds) { return nil }
      // A request with `max-age` wants nothing stale unless it says so (RFC 9111 §5.2.1.1).
      if request.maxAge == nil, stale.whileRevalidating?.isOpen == true { return nil }
      if case .seconds(let limit)? = request.maxStale {
        return .tooStale(seconds: seconds, limit: limit)
      }
    }
    if case .none(let reason) = freshness.lifetime.basis { return .noLifetime(reason) }
    return .stale(seconds: seconds)
  }
}
