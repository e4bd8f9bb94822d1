public import HTTPCaching

extension Explanation {
  /// Why the outcome is what it is.
  public enum Reason: Hashable, Sendable {
    /// The store does not hold the header fields, or the time of storing.
    case undecodable
    /// The application's own expiry has passed.
    case expiredByApplication(UserInfoExpiry)
    /// The policy of the request decides, and not how old the response is.
    case policy(RequestCachePolicy)
    /// Foundation on Linux does not use the response.
    case foundationRefuses(FoundationReuse.Obstacle)
    /// Foundation on Linux uses the response, until a moment in seconds since 1970, or for ever.
    case foundationUses(until: Int64?)
    /// What RFC 9111 says.
    case reuse(ReuseReason)

    /// The reason, for programs.
    public var code: String {
      switch self {
      case .undecodable: "undecodable"
      case .expiredByApplication: "user-info-expiry"
      case .policy: "policy"
      case .foundationRefuses(let obstacle): obstacle.rawValue
      case .foundationUses: "foundation-uses"
      case .reuse(let reason): reason.code
      }
    }

    /// The section of a specification that decides it, if one does.
    public var section: Section? {
      guard case .reuse(let reason) = self else { return nil }
      return reason.section
    }
  }

  /// Why the outcome is what it is, the weightiest first; never empty.
  public var reasons: [Reason] {
    guard let details else { return [.undecodable] }
    let specified = details.reuse.reasons.map { Reason.reuse($0) }
    if let expiry = details.expiry, isExpiredByApplication {
      return [.expiredByApplication(expiry)] + specified
    }
    if let foundation = details.foundation {
      if lookup?.isAnswer == false { return [.foundationRefuses(.otherKey)] + specified }
      return [
        foundation.obstacle.map { .foundationRefuses($0) }
          ?? .foundationUses(until: foundation.usedUntil)
      ] + specified
    }
    return policyDecides ? [.policy(inquiry.policy)] + specified : specified
  }

  /// Whether the policy leads to something else than how old the response is.
  private var policyDecides: Bool {
    let policy = inquiry.policy
    return policy != .useProtocolCachePolicy && outcome != outcome(of: .useProtocolCachePolicy)
  }
}

extension ReuseReason {
  /// The reason, for programs.
  public var code: String {
    switch self {
    case .otherTarget: "other-target"
    case .otherMethod: "other-method"
    case .varyNever: "vary-never"
    case .varyDiffers: "vary-differs"
    case .varyUnknown: "vary-unknown"
    case .incomplete: "incomplete"
    case .responseNoCache: "response-no-cache"
    case .requestNoCache: "request-no-cache"
    case .requestPragma: "request-pragma"
    case .tooOld: "too-old"
    case .notFreshEnough: "not-fresh-enough"
    case .staleMustRevalidate: "stale-must-revalidate"
    case .tooStale: "too-stale"
    case .stale: "stale"
    case .noLifetime: "no-lifetime"
    case .fresh: "fresh"
    case .maxStalePermits: "max-stale-permits"
    case .revalidatesMeanwhile: "revalidates-meanwhile"
    }
  }
}
