public import Bytes
public import HTTPCaching
import Matching
public import ResponseStorage

/// Why a stored response is used for a request at a given time, or why not.
///
/// RFC 9111 and the expiry rules of the app decide whether it is fresh (``ResponseFreshness``); the platform and the
/// request policy decide what happens then.
public struct Explanation: Sendable {
  /// What is known if the store contains the header fields and the stored time.
  ///
  /// An immutable object, because it is passed around often: copying so many values would cost more than computing
  /// them.
  public final class Details: Sendable {
    /// The stored response and its request.
    public let exchange: Exchange
    /// The presented request.
    public let request: Request
    /// The decision of RFC 9111 about using the response.
    public let reuse: Reuse
    /// The request with which RFC 9111 validates the response.
    public let conditional: ConditionalRequest
    /// Whether RFC 9111 allows storing the response.
    public let storability: Storability
    /// What the platform does with it; `nil` if RFC 9111 and the policy of the request decide.
    public var decision: PlatformDecision? { decision(under: policy) }
    /// The freshness of the response, as all commands report it.
    public let freshness: ResponseFreshness
    /// Notes on ignored or unusual values.
    public let fieldFindings: [FieldFinding]
    /// The share of the body that was received, if the response announced its length.
    public var received: ReceivedBody? { ReceivedBody(of: exchange) }
    /// The expiry set by the app, if there is one.
    public var expiry: UserInfoExpiry? { freshness.expiry }
    /// The validators of the response.
    public var validators: Validators { conditional.validators }
    /// Whether only its age or a directive can prevent using the response.
    let isFit: Bool
    private let policy: RequestCachePolicy
    private let decisions: [RequestCachePolicy: PlatformDecision]

    init(
      of exchange: Exchange, _ response: borrowing StoredResponse, asking inquiry: Inquiry
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
      let rules = inquiry.platform.rules
      policy = inquiry.policy
      var decisions: [RequestCachePolicy: PlatformDecision] = [:]
      for policy in rules.followsPolicies ? RequestCachePolicy.allCases : [policy] {
        decisions[policy] = rules.decision(
          on: exchange, response, for: request, under: policy, at: inquiry.now)
      }
      self.decisions = decisions
      freshness = ResponseFreshness(
        reuse.freshness, exchange.freshnessFields,
        expiry: UserInfoExpiry(of: response.userInfo, by: inquiry.expiryRules), at: inquiry.now)
      fieldFindings =
        reuse.fieldFindings + FieldFinding.all(about: exchange) + storability.fieldFindings
    }

    /// Returns what the platform does with it for a request with a policy; `nil` if RFC 9111 and the policy decide.
    func decision(under policy: RequestCachePolicy) -> PlatformDecision? {
      decisions[policy] ?? decisions[self.policy]
    }
  }

  /// The id in the store.
  public let id: StoredResponse.ID

  /// The URL of the response.
  public let url: ByteString?

  /// How the store finds the response for the requested URL; `nil` if it does so as expected.
  public let lookup: StoreLookup?

  /// The inquiry.
  public let inquiry: Inquiry

  /// The details; `nil` if the header fields or the stored time are unknown.
  public let details: Details?

  /// Other facts about the response.
  public let hints: [Hint]

  /// What the configuration defines for the response; `nil` if nothing.
  public var configured: Configured?

  /// What a configuration defines for a response, independent of its freshness.
  public struct Configured: Sendable {
    /// The class.
    public let entryClass: String
    /// When to validate it; `nil` if no rule defines that.
    public let revalidation: EntryRules.Revalidation?

    /// Applies a configuration; `nil` if it defines nothing, or if an expression takes too long.
    public init?(of response: borrowing StoredResponse, by classes: EntryClasses) {
      do throws(RegularExpression.Overrun) {
        entryClass = try classes.name(of: response)
        revalidation = try classes.rules.revalidation(of: response)
      } catch {
        return nil
      }
      if entryClass == EntryClasses.cache, revalidation == nil { return nil }
    }
  }

  /// The fields to decode of a response.
  public static let projection: Projection = BodyCompleteness.projection.union([
    .storage, .userInfo, .requestDetails, .key,
  ])

  /// Explains a response.
  ///
  /// - Parameter withHints: Whether to collect ``hints``, which do not affect the outcome.
  public init(
    of response: borrowing StoredResponse, asking inquiry: Inquiry, withHints: Bool = true
  ) {
    id = response.id
    url = response.url
    self.inquiry = inquiry
    let details = Exchange(of: response).map { exchange in
      Details(of: exchange, response, asking: inquiry)
    }
    self.details = details
    lookup = inquiry.names?.lookup(of: response)
    hints =
      withHints ? Hint.all(about: response, details, lookup, asking: inquiry) : []
  }
}

extension Explanation {
  /// The freshness of the response; `nil` if unknown.
  public var freshness: ResponseFreshness? { details?.freshness }

  /// Whether the response is fresh; `nil` if unknown.
  public var state: ResponseFreshness.State? { freshness?.state }

  /// Whether the app discards the response when it finds it.
  public var isExpiredByApplication: Bool { freshness?.isExpiredByApplication ?? false }

  /// Returns the outcome of a request with a policy.
  public func outcome(of policy: RequestCachePolicy) -> RequestCachePolicy.Outcome {
    guard let details else { return .unknown }
    if let decision = details.decision(under: policy) {
      return lookup?.isAnswer == false || isExpiredByApplication ? .load : decision.outcome
    }
    // The app discards the response before the URL loading system sees it.
    if isExpiredByApplication { return policy.outcome(nil, isFit: false, asking: nil) }
    return policy.outcome(
      details.reuse.decision, isFit: details.isFit, asking: details.conditional.purpose)
  }

  /// The outcome of the inquired request.
  public var outcome: RequestCachePolicy.Outcome { outcome(of: inquiry.policy) }

  /// Whether the stored response is used for the inquired request.
  public var isReusable: Bool { outcome == .cache }

  /// The request to the origin server, if one is sent before there is a response.
  public var nextRequest: Request? {
    guard let details else { return nil }
    switch outcome {
    case .cache, .error, .unknown: return nil
    case .conditional, .load:
      var request = outcome == .conditional ? details.conditional.request : details.request
      request.fields.lines += inquiry.platform.rules.lines(addedBy: inquiry.policy)
      return request
    }
  }
}

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
    /// A rule of WebKit.
    case webKit(WebKitReuse.Rule)
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
      case .webKit(let rule): rule.rawValue
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
    if let decision = details.decision {
      let isOther = lookup?.isAnswer == false
      return (isOther ? [.foundationRefuses(.otherKey)] : decision.reasons) + specified
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
