import Administration
public import Bytes
public import Fetching
import Files
public import HTTPCaching
import ResponseStorage

/// The result of validating a stored response.
public struct ValidationResult: Hashable, Sendable {
  /// The outcome of a validation.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// The origin server confirmed the stored response (304), or sent the same validator again.
    case unchanged
    /// The stored body is incomplete, and the origin server sent the rest (206).
    case incomplete
    /// The origin server has a different response.
    case changed
    /// The origin server has a different response, whose `Last-Modified` is older than the stored one.
    case rolledBack = "rolled-back"
    /// The origin server no longer has the resource (404, 410).
    case gone
    /// The origin server redirects.
    case redirected
    /// The stored response has no validator.
    case noValidator = "no-validator"
    /// It was stored with credentials, so that no request without them can decide anything; none was sent.
    case needsCredentials = "needs-credentials"
    /// No request was sent, for another reason.
    case notAsked = "not-asked"
    /// There is no response, or none that is about the stored one.
    case failed
  }

  /// The reason for an outcome.
  public enum Reason: Hashable, Sendable {
    /// No request was sent.
    case skipReason(ValidationRequest.SkipReason)
    /// The request failed.
    case failure(FetchFailure)
    /// The status says nothing about the stored response.
    case status
    /// The 304 has a validator that the stored response lacks (RFC 9111 §4.3.4).
    case contradiction
  }

  /// The request.
  public let request: ValidationRequest

  /// The response, if there was one.
  public let response: ValidationResponse?

  /// The outcome.
  public let outcome: Outcome

  /// The validator that decided the outcome; `nil` if none did.
  public let decider: ValidatorComparison.Decider?

  /// Why the validation failed, or no request was sent.
  public let reason: Reason?

  /// Whether the 304 may update the stored response; `nil` if there was no 304.
  public let selection: NotModified.Selection?

  /// The body joined from the stored beginning and the rest, if it could be.
  public private(set) var joined: JoinedBody?

  /// Why the rest could not be joined, so that the whole body was requested.
  public private(set) var misfit: RestMisfit?

  /// Joins the rest of a body to its beginning, or records why not.
  ///
  /// - Throws: The error that the spool throws.
  mutating func joinRest(in spool: BodySpool) throws {
    guard request.asksForRest, let response else { return }
    if case .failure? = reason {
      // A failed response is no rest. A content coding is an exception: the client cannot decode part of it, and fails.
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

  /// Returns the result of a second request, for the whole body instead of the rest.
  func replaced(by whole: ValidationResult) -> ValidationResult {
    var whole = whole
    whole.misfit = misfit
    return whole
  }

  /// Whether the response is a 304 about something else than the stored response.
  var is304ThatContradicts: Bool {
    selection == .otherStrongTag || selection == .otherWeakValidator
  }

  /// The size of the body, or its stored part, that did not have to be sent because it is still valid, in bytes.
  public var savedBytes: ByteCount {
    if let joined { return joined.keptSize }
    return outcome == .unchanged && response?.head.status == 304 ? request.bodySize ?? 0 : 0
  }

  /// Creates the result of a request that was not sent.
  public init(_ request: ValidationRequest, notAskedFor skipReason: ValidationRequest.SkipReason) {
    let outcome: Outcome =
      switch skipReason {
      case .noValidator: .noValidator
      case .needsCredentials, .unsendableCredentials: .needsCredentials
      case .undecodable, .method, .url, .incompleteBody, .noStore: .notAsked
      }
    self.init(request, nil, outcome, reason: .skipReason(skipReason))
  }

  /// Creates the result of a request without a response.
  public init(
    _ request: ValidationRequest, _ failure: FetchFailure, after response: ValidationResponse? = nil
  ) {
    self.init(request, response, .failed, reason: .failure(failure))
  }

  /// Interprets a response (RFC 9111 §4.3.3).
  public init(_ request: ValidationRequest, _ response: ValidationResponse) {
    guard let exchange = request.exchange else {
      self.init(request, response, .failed, reason: .skipReason(.undecodable))
      return
    }
    switch response.head.status {
    case 304: self.init(request, exchange, notModified: response)
    case 206 where request.asksForRest, 200, exchange.status:
      self.init(request, exchange, full: response)
    // Only these two say that the resource is gone. 401 and 403 depend on credentials, which may
    // have expired, and 5xx on the hour.
    case 404, 410: self.init(request, response, .gone)
    // A redirect may lead to a page of a network that wants a login. So it proves nothing about the
    // stored response, and removes nothing.
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
    var decider: ValidatorComparison.Decider? =
      switch selection {
      case .sameStrongTag, .sameWeakTag: .entityTag
      case .sameLastModified: .lastModified
      case .noValidators: nil
      // The origin server compares the tag before the date (RFC 9110 §13.2.2).
      case .ambiguous: request.sent.contains(.entityTag) ? .entityTag : .lastModified
      case .otherStrongTag, .otherWeakValidator: nil
      }
    // With one validator alone, the origin server can have compared no other one.
    if decider != nil, request.sent.count == 1 { decider = request.sent.first }
    switch selection {
    case .otherStrongTag, .otherWeakValidator:
      let comparison = Self.comparison(of: exchange, with: response)
      // An origin server that was rolled back has nothing newer, so it answers 304 to the date (RFC 9110 §13.1.3).
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
    // Another status means another response, except between a partial (206) and a whole body (200).
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

  /// Compares the validators of the stored response with those of the new one.
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

/// The response of an origin server to a validation request (RFC 9111 §4.3.3).
public struct ValidationResponse: Hashable, Sendable {
  /// The head.
  public var head: FetchHead

  /// When the request was sent, in seconds since 1970.
  public var requestTime: Int64

  /// When the head was received, in seconds since 1970.
  public var responseTime: Int64

  /// The location of the body in the spool, if it was wanted.
  public var body: [BodySpool.Piece]

  /// The size of the received body.
  var bodySize: ByteCount { body.reduce(0) { $0 + ByteCount($1.count) } }

  /// Creates a response.
  public init(
    head: FetchHead, requestTime: Int64, responseTime: Int64, body: [BodySpool.Piece] = []
  ) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.body = body
  }
}

/// Why the response to a range request was not joined to the stored beginning of a body.
public enum RestMisfit: String, Hashable, Sendable, CaseIterable {
  /// The origin server cannot satisfy the range (416).
  case notSatisfiable = "not-satisfiable"
  /// The origin server answers a range request with 304.
  case notModified = "not-modified"
  /// The response comes from another URL than the stored one.
  case otherURL = "other-url"
  /// The response has several parts (RFC 9110 §14.6).
  case multipart
  /// The response has a content coding, but the stored body has none.
  case contentEncoding = "content-encoding"
  /// The response lacks the strong validator of the stored response (RFC 9110 §15.3.7.3).
  case validator
  /// `Content-Range` is missing or invalid, does not start at the end of the stored body, or has a different complete
  /// length than announced.
  case contentRange = "content-range"
  /// The part ends before the end of the whole body.
  case endsEarly = "ends-early"
  /// The length of the response differs from `Content-Range`.
  case length
  /// The response may be another variant with the same date (RFC 9110 §12.5.5).
  case otherVariant = "other-variant"
  /// The joined body does not have the digest from the origin server.
  case digest
  /// The stored body is JSON that the app may have serialized again, and no digest proves that it did not.
  case rewritten
}

/// The digests of a body, for some algorithms.
struct DigestCheck {
  private var digests: [DigestFields.Algorithm: [UInt8]] = [:]

  /// Reads a body once, and calculates the digests for the given values.
  init(of body: Body, for values: [DigestFields.Value]) throws {
    let algorithms = Set(values.map(\.algorithm))
    guard !algorithms.isEmpty else { return }
    var (md5, sha1, sha256, sha512) = (MD5Digest(), SHA1Digest(), Digest(), SHA512Digest())
    // All digests in one pass, as the body may be larger than memory.
    try body.forEachChunk { bytes in
      if algorithms.contains(.md5) { md5.update(bytes) }
      if algorithms.contains(.sha1) { sha1.update(bytes) }
      if algorithms.contains(.sha256) { sha256.update(bytes) }
      if algorithms.contains(.sha512) { sha512.update(bytes) }
    }
    for algorithm in algorithms {
      digests[algorithm] =
        switch algorithm {
        case .md5: md5.bytes
        case .sha1: sha1.bytes
        case .sha256: sha256.bytes
        case .sha512: sha512.bytes
        }
    }
  }

  /// Whether the body has this digest; `false` if it is not Base64.
  func agrees(with value: DigestFields.Value) -> Bool {
    Base64.decode(value.base64) == digests[value.algorithm]
  }
}

extension ValidationResult {
  /// Whether the response may be another variant than the stored one, because the request lacked a field that selected
  /// the stored response, or that selects the new one (RFC 9110 §12.5.5).
  ///
  /// `Accept-Encoding` only selects a coding of the same body, and stored bodies have none.
  var mayBeOtherVariant: Bool {
    guard let stored = request.exchange, let response, case .success(let sent) = request.request
    else { return false }
    // Servers send another page to those who are not logged in, often with the same date.
    if request.credentials == .unknown { return true }
    // A file of a Foundation cache does not contain the request.
    let isRequestKnown = if case .file = request.version.id { false } else { true }
    // The record covers the fields that the stored response names; the new response may name more.
    let answer = Exchange(
      request: isRequestKnown ? stored.request : nil, status: response.head.status,
      fields: response.head.fields, responseTime: response.responseTime)
    if !isRequestKnown, case .never = VaryMatch(answer, presented: sent.fields) { return true }
    let recorded: [FieldName] = if case .fields(let names) = stored.vary { names } else { [] }
    let doubtful =
      VaryMatch(stored, presented: sent.fields).doubtful
      + VaryMatch(answer, presented: sent.fields).doubtful.filter { !recorded.contains($0) }
    return doubtful.contains { $0 != "Accept-Encoding" }
  }
}

extension VaryMatch {
  /// The fields that differ or are unknown.
  fileprivate var doubtful: [FieldName] {
    switch self {
    case .nothingNominated, .never, .matches: []
    case .differs(let differences): differences.map(\.name)
    case .unknown(let names): names
    }
  }
}
