public import HTTPCaching
public import ResponseStorage

/// Why a stored response is used for a request at a moment, or is not.
///
/// Whether it is fresh is said by RFC 9111 alone; what happens then is said by the platform and by the
/// policy of the request.
public struct Explanation: Sendable {
  /// Whether a response is fresh.
  public enum Verdict: String, Hashable, Sendable, CaseIterable {
    /// Its lifetime is greater than its age, and the application lets it live.
    case fresh
    /// It is not.
    case stale
    /// The store does not hold what it depends on.
    case unknown
  }

  /// What is known if the store holds the header fields and the time of storing.
  ///
  /// It never changes, and is asked often: an object, as a copy of so many values would cost more than
  /// they did.
  public final class Details: Sendable {
    /// The stored response and its request.
    public let exchange: Exchange
    /// The request that is presented.
    public let request: Request
    /// What RFC 9111 says of using the response for it.
    public let reuse: Reuse
    /// What RFC 9111 has it validated with.
    public let conditional: ConditionalRequest
    /// Whether RFC 9111 lets a cache store it.
    public let storability: Storability
    /// What Foundation on Linux does with it, if that is the platform.
    public let foundation: FoundationReuse?
    /// The expiry of the application's own, if it attached one.
    public let expiry: UserInfoExpiry?
    /// What is ignored or odd.
    public let remarks: [Remark]
    /// What the response can be validated with.
    public var validators: Validators { conditional.validators }
    /// Whether only age or a directive can be against using the response.
    let isFit: Bool

    init(
      of exchange: Exchange, _ userInfo: [StoredResponse.Property], asking inquiry: Inquiry
    ) {
      let now = inquiry.now.wholeSeconds
      let request = inquiry.request(for: exchange)
      self.exchange = exchange
      self.request = request
      let reuse = Reuse(of: exchange, for: request, at: now)
      self.reuse = reuse
      isFit = reuse.isFit
      conditional = ConditionalRequest(validating: exchange, for: request)
      storability = Storability(of: exchange)
      foundation =
        inquiry.platform == .foundation
        ? FoundationReuse(of: exchange, for: request, at: now) : nil
      expiry = UserInfoExpiry(of: userInfo, by: inquiry.expiryRules)
      remarks = reuse.remarks + Remark.all(about: exchange) + storability.remarks
    }
  }

  /// What the store calls the response by.
  public let id: StoredResponse.ID

  /// The URL of the response.
  public let url: ByteString?

  /// What was asked.
  public let inquiry: Inquiry

  /// What is known; `nil` if the header fields or the time of storing are not.
  public let details: Details?

  /// What else there is to know.
  public let hints: [Hint]

  /// What a response has to have been decoded for.
  public static let projection: Projection = Exchange.projection.union([.storage, .userInfo])

  /// Explains a response.
  public init(of response: borrowing StoredResponse, asking inquiry: Inquiry) {
    id = response.id
    url = response.url
    self.inquiry = inquiry
    let details = Exchange(of: response).map { exchange in
      Details(of: exchange, response.userInfo, asking: inquiry)
    }
    self.details = details
    hints = Hint.all(about: response, details, asking: inquiry)
  }
}

extension Explanation {
  /// Whether the response is fresh.
  public var verdict: Verdict {
    guard let details else { return .unknown }
    if isExpiredByApplication { return .stale }
    if details.foundation == nil, details.reuse.decision == .unknown { return .unknown }
    return details.reuse.freshness.isFresh ? .fresh : .stale
  }

  /// When the response becomes or became stale, in seconds since 1970: the earliest of the ends that it
  /// has; `nil` if it has none.
  public var expiresAt: Int64? {
    let end = details?.reuse.freshness.expiresAt
    guard let expiry = details?.expiry?.expiresAt else { return end }
    return end.map { min($0, expiry) } ?? expiry
  }

  /// For how many more seconds the response is fresh, or 0 or less if it is stale; `nil` if nothing ends it.
  ///
  /// That is not always the time to ``expiresAt``: where the clock was set back to before the response came, it
  /// ages only once that moment comes again.
  public var remainingSeconds: Int64? {
    guard let details else { return nil }
    let freshness = details.reuse.freshness
    let remaining = freshness.isFresh ? freshness.remainingSeconds : -freshness.staleSeconds
    let byLifetime = freshness.lifetime.source == .none ? nil : remaining
    let byExpiry = details.expiry.map { $0.expiresAt.addingClamped(-inquiry.now.wholeSeconds) }
    return [byLifetime, byExpiry].compactMap { $0 }.min()
  }

  /// Whether the application drops the response when it finds it.
  public var isExpiredByApplication: Bool {
    details?.expiry.map { !$0.isValid(at: inquiry.now) } ?? false
  }

  /// What becomes of a request with a policy.
  public func outcome(of policy: RequestCachePolicy) -> RequestCachePolicy.Outcome {
    guard let details else { return .unknown }
    if let foundation = details.foundation {
      return foundation.obstacle == nil && !isExpiredByApplication ? .cache : .load
    }
    // To the URL loading system a response that the application drops was never there.
    if isExpiredByApplication { return policy.outcome(nil, isFit: false, asking: nil) }
    return policy.outcome(
      details.reuse.decision, isFit: details.isFit, asking: details.conditional.purpose)
  }

  /// What becomes of the request that is asked about.
  public var outcome: RequestCachePolicy.Outcome { outcome(of: inquiry.policy) }

  /// Whether the stored response answers the request that is asked about.
  public var isReusable: Bool { outcome == .cache }

  /// The request that goes to the origin, if one does before there is an answer.
  public var nextRequest: Request? {
    guard let details else { return nil }
    switch outcome {
    case .cache, .error, .unknown: return nil
    case .conditional: return details.conditional.request
    case .load:
      var request = details.request
      if details.foundation == nil { request.fields.lines += inquiry.policy.addedLines }
      return request
    }
  }
}
