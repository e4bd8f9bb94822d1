/// What a cache does with a stored response when a request is presented (RFC 9111 §4).
public struct Reuse: Hashable, Sendable {
  /// What is done.
  public enum Decision: String, Hashable, Sendable, CaseIterable {
    /// The stored response answers the request, without the network.
    case useStored = "use-stored"
    /// The stored response answers the request, and the origin is asked afterwards
    /// (RFC 5861 §3).
    case useWhileRevalidating = "use-while-revalidating"
    /// The origin is asked before (RFC 9111 §4.3).
    case validate
    /// The stored response answers another request; this one goes to the origin.
    case forward
    /// The request forbids the network, and the stored response will not do: an error, 504
    /// (RFC 9111 §5.2.1.7).
    case gatewayTimeout = "gateway-timeout"
    /// The cache has not stored what the decision depends on.
    case unknown
  }

  /// What is done.
  public let decision: Decision

  /// Why, the weightiest first; never empty.
  public let reasons: [ReuseReason]

  /// Whether the response is fresh, and how old it is.
  public let freshness: Freshness

  /// Whether the nominated fields match.
  public let vary: VaryMatch

  /// Whether it may be used stale.
  public let staleUse: StaleUse

  /// The header fields of the stored response that must not be used without asking the origin:
  /// those that `no-cache` names (RFC 9111 §5.2.2.4).
  public let fieldsToWithhold: [FieldName]

  /// What was ignored in the request and in the response.
  public let remarks: [Remark]

  /// Decides on a presented request (RFC 9111 §4).
  ///
  /// A `Range` or a precondition of the presented request itself is not looked at.
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
    remarks = freshness.remarks(about: exchange) + Remark.all(about: request, directives)

    let unfit = ReuseReason.unfit(exchange, request, vary)
    let against = ReuseReason.against(exchange, request, directives, freshness, staleUse)
    if let unfit {
      reasons = [unfit] + against
      decision =
        if case .varyUnknown = unfit { .unknown } else {
          directives.onlyIfCached ? .gatewayTimeout : .forward
        }
    } else if !against.isEmpty {
      reasons = against
      decision = directives.onlyIfCached ? .gatewayTimeout : .validate
    } else if freshness.isFresh {
      reasons = [.fresh(seconds: freshness.remainingSeconds)]
      decision = .useStored
    } else if let slack = directives.maxStale, slack.permits(freshness.staleSeconds) {
      reasons = [.maxStalePermits(seconds: freshness.staleSeconds)]
      decision = .useStored
    } else {
      // Nothing is against it, so the window of `stale-while-revalidate` is open.
      reasons = [.revalidatesMeanwhile(seconds: freshness.staleSeconds)]
      decision = directives.onlyIfCached ? .useStored : .useWhileRevalidating
    }
  }

  /// Whether the stored response answers the request before the origin is asked (RFC 9111 §4).
  public var isReusable: Bool { [.useStored, .useWhileRevalidating].contains(decision) }
}

extension Reuse {
  /// Whether the stored response is that of the request, and whole: whether only its age or a
  /// directive can be against it (RFC 9111 §4).
  public var isFit: Bool {
    !reasons.contains { reason in
      switch reason {
      case .otherTarget, .otherMethod, .varyNever, .varyDiffers, .varyUnknown, .incomplete: true
      default: false
      }
    }
  }
}

extension RequestDirectives.MaxStale {
  /// Whether a response may be stale for so many seconds (RFC 9111 §5.2.1.2).
  public func permits(_ staleSeconds: Int64) -> Bool {
    switch self {
    case .any: true
    case .seconds(let limit): staleSeconds <= limit
    }
  }
}
