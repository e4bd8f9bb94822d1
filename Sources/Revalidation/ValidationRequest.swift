import Administration
public import Bytes
public import Fetching
public import HTTPCaching
public import ResponseStorage

/// How origins are asked.
public struct ValidationRules: Hashable, Sendable {
  /// What to ask with.
  public enum SentValidator: String, Hashable, Sendable, CaseIterable {
    /// All that the stored response has.
    case auto
    /// The entity tag alone.
    case entityTag = "etag"
    /// `Last-Modified` alone.
    case lastModified = "last-modified"
  }

  /// The method to ask by.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// That of the stored request.
    case auto
    /// GET, also where HEAD was stored, unless a body would be stored then.
    case get
    /// HEAD, which has no body in its answer: what has changed cannot be stored.
    case head
  }

  /// The method to ask by; what was stored by any other than GET or HEAD is not asked about.
  public var method = Method.auto

  /// What to ask with.
  public var sentValidator = SentValidator.auto

  /// Whether the stored `Cookie` and `Authorization` are sent, what stands before `@` in the URL, and the fields
  /// named by `Vary` that hold secrets.
  public var sendsCredentials = false

  /// How long to wait for the head of an answer, and then for each further piece, in milliseconds.
  public var timeoutMilliseconds: UInt32 = 15_000

  /// Whether redirects are followed.
  public var followsRedirects = false

  /// The most bytes of a body that takes the place of the stored one; `nil` if none is to. If one is, what has
  /// nothing to be validated with is asked for without conditions.
  public var bodyLimit: ByteCount?

  /// Creates the rules that hold unless others are wanted.
  public init() {}
}

/// The request by which an origin is asked whether a stored response is still good (RFC 9111 §4.3.1).
public struct ValidationRequest: Hashable, Sendable {
  /// Why an origin is not asked.
  public enum Obstacle: String, Hashable, Sendable, CaseIterable {
    /// The stored response has no validator, or not the one that is to be sent.
    case noValidator = "no-validator"
    /// The header fields or the time of storing are not known.
    case undecodable
    /// The method is neither GET nor HEAD: it may do more than to ask.
    case method
    /// The URL is none of `http` or `https` with a host.
    case url
    /// Not all of the body is stored, and there is no strong validator to ask for the rest with.
    case incompleteBody = "incomplete-body"
  }

  /// The stored response, as it was when it was looked at.
  public let version: ResponseVersion

  /// The URL of the stored response.
  public let url: ByteString?

  /// The number of stored bytes of the body.
  public let bodySize: ByteCount?

  /// What is stored, or as much as caching looks at; `nil` if it cannot be decoded.
  public let exchange: Exchange?

  /// What is sent, or why nothing is.
  public private(set) var request: Result<FetchRequest, ObstacleError>

  /// What is sent of the validators.
  public private(set) var sent: Set<ValidatorComparison.Decider>

  /// Whether the rest of a body is asked for, of which only the beginning is stored (RFC 9111 §3.4).
  public private(set) var asksForRest: Bool

  /// The stored beginning of a body whose rest is asked for; `nil` if what comes is not joined to it.
  private(set) var start: StoredStart?

  /// Whether the body is shorter than was announced, and the app may have written it again.
  let mayBeRewritten: Bool

  /// Whether credentials that the stored request had are left out, so that the answer may be another.
  public let withholdsCredentials: Bool

  /// An obstacle, as an error.
  public struct ObstacleError: Error, Hashable, Sendable {
    /// The obstacle.
    public let obstacle: Obstacle
  }

  /// What a response has to have been decoded for.
  public static let projection: Projection = BodyCompleteness.projection.union([
    .key, .file, .requestHeaders,
  ])

  /// Makes the request for a stored response.
  public init(for response: borrowing StoredResponse, by rules: ValidationRules) {
    version = ResponseVersion(
      id: response.id, key: response.key, stored: response.stored, file: response.file)
    url = response.url
    bodySize = response.bodySize
    let exchange = Exchange(of: response)
    self.exchange = exchange
    guard let exchange else {
      mayBeRewritten = false
      (request, sent, asksForRest) = (Self.failure(.undecodable), [], false)
      withholdsCredentials = false
      return
    }
    mayBeRewritten = BodyCompleteness(of: exchange, response) == .rewritten
    let conditional = ConditionalRequest(validating: exchange, for: nil)
    let storedMethod = exchange.request?.method ?? Request.get
    let method =
      switch rules.method {
      case .auto: storedMethod
      case .get: rules.bodyLimit == nil ? Request.get : storedMethod
      case .head: Request.head
      }
    let target = TargetURL(exchange.request?.targetURI ?? response.url?.bytes ?? [])
    let conditions = Self.conditions(conditional, rules.sentValidator)
    sent = Set(conditions.compactMap(\.decider))
    asksForRest = conditional.purpose == .completion
    var lines = conditional.request.fields.lines.filter { line in
      !Self.conditionalFields.contains { $0.matches(line.name) } && line.isSendable
    }
    // A field such as X-Api-Key is there if `Vary` names it.
    let secrets = lines.filter { SecretNames.isSecretHeader($0.name[...]) }
    lines.removeAll { SecretNames.isSecretHeader($0.name[...]) }
    let credentials =
      Self.credentials(of: response)
      + secrets.filter { line in !Self.credentialFields.contains { $0.matches(line.name) } }
    if rules.sendsCredentials { lines += credentials }
    withholdsCredentials =
      !rules.sendsCredentials && (!credentials.isEmpty || target.hasUserInfo)
    let obstacle: Obstacle? =
      if storedMethod != Request.get && storedMethod != Request.head {
        .method
      } else if !target.isFetchable {
        .url
      } else if rules.method == .head, asksForRest {
        // A range of HEAD is ignored (RFC 9110 §14.2).
        .incompleteBody
      } else if rules.bodyLimit != nil, conditional.purpose == .replacement {
        nil
      } else if conditional.validators.isEmpty {
        .noValidator
      } else if conditional.purpose == .replacement {
        .incompleteBody
      } else if sent.isEmpty {
        .noValidator
      } else {
        nil
      }
    guard obstacle == nil else {
      request = Self.failure(obstacle ?? .undecodable)
      return
    }
    request = .success(
      FetchRequest(
        method: method, url: rules.sendsCredentials ? target.bytes : target.withoutUserInfo,
        fields: FieldSection(lines + conditions.map(\.line)),
        timeoutMilliseconds: rules.timeoutMilliseconds,
        bodyLimit: method == Request.head ? nil : rules.bodyLimit?.bytes,
        followsRedirects: rules.followsRedirects))
  }

  /// Keeps the stored beginning of a body whose rest is asked for, so that the rest is joined to it.
  ///
  /// Nothing is kept of other requests, nor of a body that cannot be read; its rest is not joined then.
  ///
  /// - Throws: What the spool throws.
  public mutating func keepStart(from source: any ResponseSource, in spool: BodySpool) throws {
    guard obstacle == nil, asksForRest, let exchange,
      case .start(let size) = StoredBody(of: exchange)
    else { return }
    start = try StoredStart(ByteCount(size), of: version.id, from: source, in: spool)
  }

  /// Whether a URL is that of the stored response; the name of a user in it does not matter, nor a fragment.
  func names(_ answering: [UInt8]) -> Bool {
    let canonical = { CanonicalURL.of(ByteString(TargetURL($0).withoutUserInfo)) }
    return url.map { canonical($0.bytes) == canonical(answering) } ?? false
  }

  /// The request without conditions, which a 304 cannot answer; `nil` if the origin is not asked.
  func withoutConditions() -> ValidationRequest? {
    guard case .success(var plain) = request else { return nil }
    plain.fields.lines.removeAll { line in
      Self.conditionalFields.contains { $0.matches(line.name) }
    }
    var whole = self
    (whole.request, whole.sent, whole.asksForRest) = (.success(plain), [], false)
    whole.start = nil
    return whole
  }

  /// Why the origin is not asked; `nil` if it is.
  @inline(never)  // Inlined, it makes the optimizer of Swift 6.3.1 fail.
  public var obstacle: Obstacle? {
    if case .failure(let error) = request { error.obstacle } else { nil }
  }

  /// The host that is asked, in small letters.
  public var host: ByteString? {
    guard case .success(let request) = request else { return nil }
    return CanonicalURL.host(of: ByteString(request.url))
  }

  private static let conditionalFields: [FieldName] = [
    .ifNoneMatch, .ifModifiedSince, .ifRange, .range,
  ]
  private static let credentialFields: [FieldName] = [.authorization, .cookie, .proxyAuthorization]

  private static func failure(_ obstacle: Obstacle) -> Result<FetchRequest, ObstacleError> {
    .failure(ObstacleError(obstacle: obstacle))
  }

  /// The lines that make the request conditional, as far as they can be sent.
  private static func conditions(
    _ request: ConditionalRequest, _ choice: ValidationRules.SentValidator
  ) -> [(decider: ValidatorComparison.Decider?, line: FieldLine)] {
    request.conditions.compactMap { line in
      guard line.isSendable else { return nil }
      guard let decider = decider(of: line, in: request) else { return (nil, line) }
      switch (choice, decider) {
      case (.lastModified, .entityTag), (.entityTag, .lastModified): return nil
      default: return (decider, line)
      }
    }
  }

  /// The validator that a line sends; `nil` if it is none of these, but `Range`.
  private static func decider(
    of line: FieldLine, in request: ConditionalRequest
  ) -> ValidatorComparison.Decider? {
    if FieldName.ifNoneMatch.matches(line.name) { return .entityTag }
    if FieldName.ifModifiedSince.matches(line.name) { return .lastModified }
    guard FieldName.ifRange.matches(line.name) else { return nil }
    return request.validators.entityTag == nil ? .lastModified : .entityTag
  }

  private static func credentials(of response: borrowing StoredResponse) -> [FieldLine] {
    let names: [FieldName] = [.authorization, .cookie]
    return FieldSection(response.request.headers ?? HeaderFields()).lines.filter { line in
      line.isSendable && names.contains { $0.matches(line.name) }
    }
  }
}

extension FieldLine {
  /// Whether the line can be sent, and is not about the connection or the length of a body, which are the
  /// sender's: a cache may hold anything.
  fileprivate var isSendable: Bool {
    let reserved: [FieldName] = [
      "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Transfer-Encoding", "Upgrade", "Expect",
    ]
    return FieldName(name).isValid && !reserved.contains { $0.matches(name) }
      && !value.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
      && String(validating: value, as: UTF8.self) != nil
  }
}
