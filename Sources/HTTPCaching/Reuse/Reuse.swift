/// The decision of a cache about a stored response for a presented request (RFC 9111 §4).
public struct Reuse: Hashable, Sendable {
  /// The possible decisions.
  public enum Decision: String, Hashable, Sendable, CaseIterable {
    /// The stored response answers the request, without the network.
    case useStored = "use-stored"
    /// The stored response answers the request and is validated afterwards (RFC 5861 §3).
    case useWhileRevalidating = "use-while-revalidating"
    /// The stored response must be validated first (RFC 9111 §4.3).
    case validate
    /// The stored response belongs to another request, so this one is forwarded to the origin.
    case forward
    /// The request forbids the network, and the stored response cannot be used: a 504 error (RFC 9111 §5.2.1.7).
    case gatewayTimeout = "gateway-timeout"
    /// The cache has not stored the data that the decision depends on.
    case unknown
  }

  /// The decision.
  public let decision: Decision

  /// The reasons, most important first; never empty.
  public let reasons: [ReuseReason]

  /// The freshness and age of the response.
  public let freshness: Freshness

  /// The comparison of the nominated fields.
  public let vary: VaryMatch

  /// Whether the response may be used while it is stale.
  public let staleUse: StaleUse

  /// The header fields of the stored response that must not be used without validation, because `no-cache` names them
  /// (RFC 9111 §5.2.2.4).
  public let fieldsToWithhold: [FieldName]

  /// Remarks about ignored parts of the request and the response.
  public let fieldFindings: [FieldFinding]

  /// Decides about a presented request (RFC 9111 §4).
  ///
  /// A `Range` or a precondition of the presented request is ignored.
  ///
  /// - Parameter now: Seconds since 1970-01-01 00:00:00 UTC.
  public init(of exchange: borrowing Exchange, for request: Request, at now: Int64) {
    let directives = request.directives
    let freshness = Freshness(of: exchange, at: now)
    let vary = VaryMatch(exchange, presented: request.fields)
    let staleUse = StaleUse(of: exchange, freshness: freshness, request: directives)
    self.freshness = freshness
    self.vary = vary
    self.staleUse = staleUse
    if case .fields(let names)? = exchange.directives.noCache {
      fieldsToWithhold = names
    } else {
      fieldsToWithhold = []
    }
    fieldFindings =
      freshness.fieldFindings(about: exchange) + FieldFinding.all(about: request, directives)

    let unfit = ReuseReason.unfit(exchange, request, vary)
    let against = ReuseReason.against(exchange, request, directives, freshness, staleUse)
    if let unfit {
      // The other reasons are still listed: a user who makes the request fit should not find the
      // next reason only then.
      reasons = [unfit] + against
      // Without the stored request fields, a match can be neither assumed nor ruled out.
      decision =
        if case .varyUnknown = unfit { .unknown } else {
          // A 504 is what RFC 9111 §5.2.1.7 asks for.
          directives.onlyIfCached ? .gatewayTimeout : .forward
        }
    } else if !against.isEmpty {
      reasons = against
      decision = directives.onlyIfCached ? .gatewayTimeout : .validate
    } else if freshness.isFresh {
      // `must-revalidate` and `immutable` change nothing while a response is fresh. Some libraries
      // validate each time for the former, which RFC 9111 §5.2.2.2 does not ask for.
      reasons = [.fresh(seconds: freshness.remainingSeconds)]
      decision = .useStored
    } else if let slack = directives.maxStale, slack.permits(freshness.staleSeconds) {
      reasons = [.maxStalePermits(seconds: freshness.staleSeconds)]
      decision = .useStored
    } else {
      // There is no reason against reuse, so the `stale-while-revalidate` window must be open.
      reasons = [.revalidatesMeanwhile(seconds: freshness.staleSeconds)]
      // `only-if-cached` forbids the network, even for a validation afterwards.
      decision = directives.onlyIfCached ? .useStored : .useWhileRevalidating
    }
  }

  /// Whether the stored response answers the request without waiting for the origin (RFC 9111 §4).
  public var isReusable: Bool { [.useStored, .useWhileRevalidating].contains(decision) }
}

extension Reuse {
  /// Whether the stored response belongs to the request and is complete, so that only its age or a directive can
  /// prevent its use (RFC 9111 §4).
  public var isFit: Bool {
    !reasons.contains { reason in
      switch reason {
      case .otherTarget, .otherMethod, .responseNoStore, .statusNotUnderstood, .varyNever,
        .varyDiffers, .varyUnknown, .incomplete:
        true
      default: false
      }
    }
  }
}

extension RequestDirectives.MaxStale {
  /// Whether a response may be stale for a number of seconds (RFC 9111 §5.2.1.2).
  public func permits(_ staleSeconds: Int64) -> Bool {
    switch self {
    case .any: true
    case .seconds(let limit): staleSeconds <= limit
    }
  }
}
