import Administration
public import Bytes
public import Fetching
public import HTTPCaching
import ResponseStorage

/// What is known of a stored response after its origin was asked.
public struct ValidationResult: Hashable, Sendable {
  /// What became of the question.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The origin has the same (304), or sent the same validator again.
    case unchanged
    /// The origin has the same, and not all of it is stored: it has sent the rest (206).
    case incomplete
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

  /// The body with the rest that the origin has sent, if it was joined.
  public private(set) var joined: JoinedBody?

  /// Why the rest that was asked for first was not joined, so that all was asked for.
  public private(set) var misfit: RestMisfit?

  /// Joins the rest of a body to its beginning, or notes why not.
  ///
  /// - Throws: What the spool throws.
  mutating func joinRest(in spool: BodySpool) throws {
    guard request.asksForRest, let response else { return }
    if case .failure? = reason {
      // What was cut off again is no answer. But the client cannot decode a part of a coded text, and fails after the head.
      if response.head.status == 206, response.head.fields.contains(.contentEncoding) {
        misfit = .contentEncoding
      }
      return
    }
    guard let start = request.start else { return }
    switch try JoinedBody.joining(response, to: start, of: request, in: spool) {
    case .success(let body): joined = body
    case .failure(let error): misfit = error.misfit
    case nil: break
    }
  }

  /// The result of asking for all of a body of which this was to be the rest.
  func replaced(by whole: ValidationResult) -> ValidationResult {
    var whole = whole
    whole.misfit = misfit
    return whole
  }

  /// Whether the answer is a 304 that is about something else than what is stored.
  var is304ThatContradicts: Bool {
    selection == .otherStrongTag || selection == .otherWeakValidator
  }

  /// What was not sent, as the origin said that the stored body, or its beginning, is still good, in bytes.
  public var savedBytes: ByteCount {
    if let joined { return joined.keptSize }
    return outcome == .unchanged && response?.head.status == 304 ? request.bodySize ?? 0 : 0
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
    case 301...303 where response.head.fields.contains("Location"),
      307...308 where response.head.fields.contains("Location"):
      self.init(request, response, .redirected)
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
      let comparison = Self.comparison(of: exchange, with: response)
      // An origin that looks whether it has something newer has not, after it went back (RFC 9110 §13.1.3).
      if case .rolledBack(let decider) = comparison {
        self.init(request, response, .rolledBack, by: decider, selection: selection)
      } else {
        self.init(request, response, .failed, reason: .contradiction, selection: selection)
      }
    default:
      self.init(request, response, .unchanged, by: decider, selection: selection)
    }
  }

  private init(
    _ request: ValidationRequest, _ exchange: Exchange, full response: ValidationResponse
  ) {
    // Another status is another answer, whatever it is called by, but that of a part and of all of a body.
    let statuses: Set = [exchange.status, response.head.status]
    let isSameStatus = statuses.count == 1 || request.asksForRest && statuses == [200, 206]
    let isRest = request.asksForRest && response.head.status == 206
    switch Self.comparison(of: exchange, with: response) {
    case .unchanged(let decider) where isSameStatus:
      self.init(request, response, isRest ? .incomplete : .unchanged, by: decider)
    case .unchanged, .unknown: self.init(request, response, .changed)
    case .changed(let decider): self.init(request, response, .changed, by: decider)
    case .rolledBack(let decider): self.init(request, response, .rolledBack, by: decider)
    }
  }

  /// Compares the validators of what is stored and of an answer.
  private static func comparison(
    of exchange: Exchange, with response: ValidationResponse
  ) -> ValidatorComparison {
    let now = response.responseTime
    let date = DateField(.date, in: response.head.fields, now: now)
    return ValidatorComparison(
      stored: Validators(of: exchange),
      origin: Validators(response.head.fields, date: date, now: now))
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
