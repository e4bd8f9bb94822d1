import Administration
public import Fetching
public import HTTPCaching
public import ResponseStorage

/// What is known of a stored response after its origin was asked.
public struct ValidationResult: Hashable, Sendable {
  /// What became of the question.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The origin has the same (304), or sent the same validator again.
    case unchanged
    /// The origin has something else.
    case changed
    /// The origin has something else, whose `Last-Modified` is older than the stored.
    case rolledBack = "rolled-back"
    /// The origin has nothing any more (404, 410).
    case gone
    /// The origin sends elsewhere.
    case redirected
    /// There is nothing to ask with.
    case noValidator = "no-validator"
    /// The origin was not asked for another reason.
    case notAsked = "not-asked"
    /// There is no answer, or none that says anything of the stored response.
    case failed
  }

  /// Why there is no more to say.
  public enum Reason: Hashable, Sendable {
    /// The origin was not asked.
    case obstacle(ValidationRequest.Obstacle)
    /// The request failed.
    case failure(FetchFailure)
    /// The status says nothing of the stored response.
    case status
    /// The 304 has a validator that the stored response has not (RFC 9111 §4.3.4).
    case contradiction
  }

  /// What was asked.
  public let request: ValidationRequest

  /// What was answered, if anything was.
  public let response: ValidationResponse?

  /// What became of it.
  public let outcome: Outcome

  /// The validator that decided; `nil` if none did.
  public let decider: ValidatorComparison.Decider?

  /// Why it failed, or was not asked.
  public let reason: Reason?

  /// Whether the 304 may update the stored response; `nil` if there is none.
  public let selection: NotModified.Selection?

  /// What was not sent, as the origin said that the stored body is still good, in bytes.
  public var savedBytes: Int64 {
    guard outcome == .unchanged, let status = response?.head.status else { return 0 }
    return status == 304 || status == 206 ? request.bodySize ?? 0 : 0
  }

  /// Where the origin sends to, verbatim.
  public var location: ByteString? {
    guard outcome == .redirected else { return nil }
    return response?.head.fields.firstValue(of: "Location").map { ByteString($0) }
  }

  /// Says why nothing was asked.
  public init(_ request: ValidationRequest, notAskedFor obstacle: ValidationRequest.Obstacle) {
    self.init(
      request, nil, obstacle == .noValidator ? .noValidator : .notAsked,
      reason: .obstacle(obstacle))
  }

  /// Says why there is no answer.
  public init(
    _ request: ValidationRequest, _ failure: FetchFailure, after response: ValidationResponse? = nil
  ) {
    self.init(request, response, .failed, reason: .failure(failure))
  }

  /// Says what an answer means (RFC 9111 §4.3.3).
  public init(_ request: ValidationRequest, _ response: ValidationResponse) {
    guard let exchange = request.exchange else {
      self.init(request, response, .failed, reason: .obstacle(.undecodable))
      return
    }
    switch response.head.status {
    case 304: self.init(request, exchange, notModified: response)
    case 206 where request.asksForRest, 200, exchange.status:
      self.init(request, exchange, full: response)
    case 404, 410: self.init(request, response, .gone)
    case 301, 302, 303, 307, 308: self.init(request, response, .redirected)
    default: self.init(request, response, .failed, reason: .status)
    }
  }

  private init(
    _ request: ValidationRequest, _ exchange: Exchange, notModified response: ValidationResponse
  ) {
    let update = NotModified(
      fields: response.head.fields, requestTime: response.requestTime,
      responseTime: response.responseTime)
    let selection = update.selection(of: exchange)
    let decider: ValidatorComparison.Decider? =
      switch selection {
      case .sameStrongTag, .sameWeakTag: .entityTag
      case .sameLastModified: .lastModified
      case .noValidators: nil
      // The origin compared what it was sent, the tag first (RFC 9110 §13.2.2).
      case .ambiguous: request.sent.contains(.entityTag) ? .entityTag : .lastModified
      case .otherStrongTag, .otherWeakValidator: nil
      }
    switch selection {
    case .otherStrongTag, .otherWeakValidator:
      self.init(request, response, .failed, reason: .contradiction, selection: selection)
    default:
      self.init(request, response, .unchanged, by: decider, selection: selection)
    }
  }

  private init(
    _ request: ValidationRequest, _ exchange: Exchange, full response: ValidationResponse
  ) {
    let now = response.responseTime
    let date = DateField(.date, in: response.head.fields, now: now)
    let comparison = ValidatorComparison(
      stored: Validators(of: exchange),
      origin: Validators(response.head.fields, date: date, now: now))
    // Another status is another answer, whatever it is called by, but that of a part and of all of a body.
    let statuses: Set = [exchange.status, response.head.status]
    let isSameStatus = statuses.count == 1 || request.asksForRest && statuses == [200, 206]
    switch comparison {
    case .unchanged(let decider) where isSameStatus:
      self.init(request, response, .unchanged, by: decider)
    case .unchanged, .unknown: self.init(request, response, .changed)
    case .changed(let decider): self.init(request, response, .changed, by: decider)
    case .rolledBack(let decider): self.init(request, response, .rolledBack, by: decider)
    }
  }

  private init(
    _ request: ValidationRequest, _ response: ValidationResponse?, _ outcome: Outcome,
    by decider: ValidatorComparison.Decider? = nil, reason: Reason? = nil,
    selection: NotModified.Selection? = nil
  ) {
    self.request = request
    self.response = response
    self.outcome = outcome
    self.decider = decider
    self.reason = reason
    self.selection = selection
  }
}
