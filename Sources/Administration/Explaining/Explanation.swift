public import Bytes
public import HTTPCaching
public import ResponseStorage

/// Why a stored response is used for a request at a moment, or is not.
///
/// RFC 9111 and the application's own expiry decide whether it is fresh, by ``ResponseFreshness``; the platform
/// and the policy of the request decide what happens then.
public struct Explanation: Sendable {
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
    /// How fresh the response is, as every command says it.
    public let freshness: ResponseFreshness
    /// What is ignored or odd.
    public let remarks: [Remark]
    /// How much of the body is stored, if the response announced how much there is.
    public var received: ReceivedBody? { ReceivedBody(of: exchange) }
    /// The expiry of the application's own, if it attached one.
    public var expiry: UserInfoExpiry? { freshness.expiry }
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
      freshness = ResponseFreshness(
        reuse.freshness, exchange.freshnessFields,
        expiry: UserInfoExpiry(of: userInfo, by: inquiry.expiryRules), at: inquiry.now)
      remarks = reuse.remarks + Remark.all(about: exchange) + storability.remarks
    }
  }

  /// What the store calls the response by.
  public let id: StoredResponse.ID

  /// The URL of the response.
  public let url: ByteString?

  /// How the store finds the response for the URL that is asked for; `nil` if nothing is odd about that.
  public let lookup: StoreLookup?

  /// What was asked.
  public let inquiry: Inquiry

  /// What is known; `nil` if the header fields or the time of storing are not.
  public let details: Details?

  /// What else there is to know.
  public let hints: [Hint]

  /// What the configuration says of the response; `nil` if it says nothing.
  public var configured: Configured?

  /// What a configuration says of a response, which has no part in its freshness.
  public struct Configured: Sendable {
    /// The class that it is in.
    public let entryClass: String
    /// When it is to be validated; `nil` if no rule says so.
    public let revalidation: EntryRules.Revalidation?

    /// Finds out what a configuration says; `nil` if that is nothing, or if it takes too long to find out.
    public init?(of response: borrowing StoredResponse, by classes: EntryClasses) {
      do throws(URLExpression.Overrun) {
        entryClass = try classes.name(of: response)
        revalidation = try classes.rules.revalidation(of: response)
      } catch {
        return nil
      }
      if entryClass == EntryClasses.cache, revalidation == nil { return nil }
    }
  }

  /// What a response has to have been decoded for.
  public static let projection: Projection = BodyCompleteness.projection.union([
    .storage, .userInfo,
  ])

  /// Explains a response.
  ///
  /// - Parameter withHints: Whether to look for ``hints``, on which no outcome depends.
  public init(
    of response: borrowing StoredResponse, asking inquiry: Inquiry, withHints: Bool = true
  ) {
    id = response.id
    url = response.url
    self.inquiry = inquiry
    let details = Exchange(of: response).map { exchange in
      Details(of: exchange, response.userInfo, asking: inquiry)
    }
    self.details = details
    lookup = inquiry.names?.lookup(of: response)
    hints =
      withHints ? Hint.all(about: response, details, lookup, asking: inquiry) : []
  }
}

extension Explanation {
  /// How fresh the response is; `nil` if that is not known.
  public var freshness: ResponseFreshness? { details?.freshness }

  /// Whether the response is fresh; `nil` if that is not known.
  public var state: ResponseFreshness.State? { freshness?.state }

  /// Whether the application drops the response when it finds it.
  public var isExpiredByApplication: Bool { freshness?.isExpiredByApplication ?? false }

  /// What becomes of a request with a policy.
  public func outcome(of policy: RequestCachePolicy) -> RequestCachePolicy.Outcome {
    guard let details else { return .unknown }
    if let foundation = details.foundation {
      if lookup?.isAnswer == false { return .load }
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
