public import HTTPCaching

extension Explanation {
  /// A reason for the outcome.
  public enum Reason: Hashable, Sendable {
    /// The store does not contain the header fields or the stored time.
    case undecodable
    /// The expiry set by the app has passed.
    case expiredByApplication(UserInfoExpiry)
    /// The request policy decides, regardless of the age.
    case policy(RequestCachePolicy)
    /// Foundation on Linux does not use the response.
    case foundationRefuses(FoundationReuse.Refusal)
    /// Foundation on Linux uses the response, until a time in seconds since 1970, or forever.
    case foundationUses(until: Int64?)
    /// A reason from RFC 9111.
    case reuse(ReuseReason)

    /// The code of the reason in machine-readable output.
    public var code: String {
      switch self {
      case .undecodable: "undecodable"
      case .expiredByApplication: "user-info-expiry"
      case .policy: "policy"
      case .foundationRefuses(let refusal): refusal.rawValue
      case .foundationUses: "foundation-uses"
      case .reuse(let reason): reason.code
      }
    }

    /// The section of the specification behind the reason, if there is one.
    public var section: Section? {
      guard case .reuse(let reason) = self else { return nil }
      return reason.section
    }
  }

  /// The reasons for the outcome, most important first; never empty.
  public var reasons: [Reason] {
    guard let details else { return [.undecodable] }
    let specified = details.reuse.reasons.map { Reason.reuse($0) }
    if let expiry = details.expiry, isExpiredByApplication {
      return [.expiredByApplication(expiry)] + specified
    }
    if let foundation = details.foundation {
      if lookup?.isAnswer == false { return [.foundationRefuses(.otherKey)] + specified }
      return [
        foundation.refusal.map { .foundationRefuses($0) }
          ?? .foundationUses(until: foundation.usedUntil)
      ] + specified
    }
    return policyDecides ? [.policy(inquiry.policy)] + specified : specified
  }

  /// Whether the policy changes the outcome.
  private var policyDecides: Bool {
    let policy = inquiry.policy
    return policy != .useProtocolCachePolicy && outcome != outcome(of: .useProtocolCachePolicy)
  }
}

extension ReuseReason {
  /// The code of the reason in machine-readable output.
  public var code: String {
    switch self {
    case .otherTarget: "other-target"
    case .otherMethod: "other-method"
    case .responseNoStore: "response-no-store"
    case .statusNotUnderstood: "status-not-understood"
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
