import Administration
public import Bytes
public import Fetching
public import HTTPCaching
public import ResponseStorage
public import SQLite
import Secrets

/// The rules for creating validation requests.
public struct ValidationRules: Hashable, Sendable {
  /// The validators to send.
  public enum SentValidator: String, Hashable, Sendable, CaseIterable {
    /// All validators of the stored response.
    case auto
    /// Only the entity tag.
    case entityTag = "etag"
    /// Only `Last-Modified`.
    case lastModified = "last-modified"
  }

  /// The request method.
  public enum Method: String, Hashable, Sendable, CaseIterable {
    /// The method of the stored request.
    case auto
    /// GET, even if HEAD was stored, unless the body would be stored.
    case get
    /// HEAD, whose response has no body: changed responses cannot be stored.
    case head
  }

  /// The request method; responses stored for methods other than GET or HEAD are not validated.
  public var method = Method.auto

  /// The validators to send.
  public var sentValidator = SentValidator.auto

  /// Whether to send the stored credentials: those in the URL, and all header fields that are credentials.
  public var sendsCredentials = false

  /// The time limit for the head of a response, and for each further piece, in milliseconds.
  public var timeoutMilliseconds: UInt32 = 15_000

  /// Whether to follow redirects; a request with credentials does not leave its origin.
  public var followsRedirects = false

  /// The maximum size of a body that replaces the stored one; `nil` if no bodies are wanted. If they are, responses
  /// without a validator are requested without conditions.
  public var bodyLimit: ByteCount?

  /// Creates the default rules.
  public init() {}
}

/// A request to the origin server that validates a stored response (RFC 9111 §4.3.1).
public struct ValidationRequest: Hashable, Sendable {
  /// Why no request is sent.
  public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    /// The stored response has no validator, or not the one to send.
    case noValidator = "no-validator"
    /// The header fields or the stored time are unknown.
    case undecodable
    /// The method is neither GET nor HEAD, so the request may change something.
    case method
    /// The URL is not an `http` or `https` URL with a host.
    case url
    /// The body is incomplete, and there is no strong validator for requesting the rest.
    case incompleteBody = "incomplete-body"
    /// It must not have been stored, so no answer can make it usable.
    case noStore = "no-store"
    /// It was stored with credentials, which may not be sent.
    case needsCredentials = "needs-credentials"
    /// It was stored with credentials that are never sent to an origin server.
    case unsendableCredentials = "unsendable-credentials"
  }

  /// The credentials with which a response was stored.
  ///
  /// What a server answers to anybody else says nothing about it: a private response that still exists is a 404, or a
  /// page that asks for a password, to those who may not see it.
  public enum StoredCredentials: String, Hashable, Sendable, CaseIterable {
    /// None.
    case none
    /// The store does not record whether there were any.
    case unknown
    /// Some, which may not be sent.
    case withheld
    /// Some that cannot be sent.
    case unsendable
    /// Some, which are sent.
    case sent
  }

  /// The version of the stored response when the request was created.
  public let version: ResponseVersion

  /// The URL of the stored response.
  public let url: ByteString?

  /// The size of the stored body.
  public let bodySize: ByteCount?

  /// The stored exchange, with the parts relevant to caching; `nil` if it cannot be decoded.
  public let exchange: Exchange?

  /// The request to send, or why none is sent.
  public internal(set) var request: Result<FetchRequest, SkippedError>

  /// The validators that are sent.
  public internal(set) var sent: Set<ValidatorComparison.Decider>

  /// Whether the request is for the rest of a partial body (RFC 9111 §3.4).
  public internal(set) var asksForRest: Bool

  /// The stored beginning of the body; `nil` if the rest is not to be joined to it.
  var start: StoredStart?

  /// Whether the body is shorter than announced because the app may have serialized it again.
  let mayBeRewritten: Bool

  /// The credentials with which the response was stored; a request that lacks them is not sent.
  public let credentials: StoredCredentials

  /// The reason as an error.
  public struct SkippedError: Error, Hashable, Sendable {
    /// Why no request is sent.
    public let skipReason: SkipReason
  }

  /// The fields to decode of a response.
  public static let projection: Projection = BodyCompleteness.projection.union([
    .key, .file, .requestHeaders, .requestDetails,
  ])

  /// Creates the request for a stored response.
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
      credentials = .unknown
      return
    }
    mayBeRewritten = BodyCompleteness(of: exchange, response) == .rewritten
    let conditional = ConditionalRequest(validating: exchange, for: nil)
    let storedMethod = exchange.request?.method ?? Request.get
    let method =
      switch rules.method {
      case .auto: storedMethod
      // With bodies, the response to a GET would take the place of that to a HEAD, which the app
      // asked for.
      case .get: rules.bodyLimit == nil ? Request.get : storedMethod
      case .head: Request.head
      }
    let target = TargetURL((response.requestedURL ?? response.url)?.bytes ?? [])
    let conditions = Self.conditions(conditional, rules.sentValidator)
    sent = Set(conditions.compactMap(\.decider))
    asksForRest = conditional.purpose == .completion
    let secrets = exchange.credentials
    credentials =
      if !secrets.allSatisfy(\.isSendable) {
        .unsendable
      } else if !secrets.isEmpty || target.hasUserInfo {
        rules.sendsCredentials ? .sent : .withheld
      } else {
        Self.recordsCredentials(response, exchange) ? .none : .unknown
      }
    // Leave out the conditions of the stored request; this request gets its own.
    let lines = conditional.request.fields.lines.filter { line in
      !Self.isCondition(line) && !line.isCredential && line.isSendable
    }
    var skipReason: SkipReason? =
      if storedMethod != Request.get && storedMethod != Request.head {
        .method
      } else if !target.isFetchable {
        .url
      } else if rules.method == .head, asksForRest {
        // Servers ignore `Range` in HEAD requests (RFC 9110 §14.2).
        .incompleteBody
        // A refresh can use any response, so it needs no validator. A check without one could not
        // tell a changed response from an equal one.
      } else if rules.bodyLimit != nil, conditional.purpose == .replacement {
        nil
      } else if conditional.isForbidden {
        .noStore
      } else if conditional.validators.isEmpty {
        .noValidator
      } else if conditional.purpose == .replacement {
        .incompleteBody
      } else if sent.isEmpty {
        .noValidator
      } else {
        nil
      }
    // Last, so that nobody sends credentials for an entry that cannot be validated even with them.
    switch credentials {
    case .withheld: skipReason = skipReason ?? .needsCredentials
    case .unsendable: skipReason = skipReason ?? .unsendableCredentials
    case .none, .unknown, .sent: break
    }
    guard skipReason == nil else {
      request = Self.failure(skipReason ?? .undecodable)
      return
    }
    let redirects: FetchRequest.Redirects =
      if !rules.followsRedirects || credentials == .sent && target.hasUserInfo {
        // The target of a redirect does not contain those of the URL.
        .none
      } else {
        credentials == .sent ? .sameOrigin : .any
      }
    request = .success(
      FetchRequest(
        // Credentials go out only if the user asks for it: a cache may be examined by somebody else
        // than the person whose credentials it contains.
        method: method, url: rules.sendsCredentials ? target.bytes : target.withoutUserInfo,
        fields: FieldSection(
          lines + (credentials == .sent ? secrets : []) + conditions.map(\.line)),
        timeoutMilliseconds: rules.timeoutMilliseconds,
        bodyLimit: method == Request.head ? nil : rules.bodyLimit?.bytes,
        redirects: redirects))
  }

  /// Copies the stored beginning of the body to the spool, so that the rest can be joined to it.
  ///
  /// Does nothing for other requests, or if the body cannot be read; the rest is then not joined.
  ///
  /// - Throws: The error that the spool throws.
  public mutating func keepStart(from source: any ResponseSource, in spool: BodySpool) throws {
    guard skipReason == nil, asksForRest, let exchange,
      case .start(let size) = StoredBody(of: exchange)
    else { return }
    start = try StoredStart(ByteCount(size), of: version.id, from: source, in: spool)
  }

  /// Whether a URL equals that of the stored response, ignoring credentials and fragment.
  func names(_ answering: [UInt8]) -> Bool {
    let canonical = { CanonicalURL.of(ByteString(TargetURL($0).withoutUserInfo)) }
    return url.map { canonical($0.bytes) == canonical(answering) } ?? false
  }

  /// Returns the request without conditions, which a 304 cannot answer; `nil` if no request is sent.
  func withoutConditions() -> ValidationRequest? {
    guard case .success(var plain) = request else { return nil }
    plain.fields.lines.removeAll { Self.isCondition($0) }
    var whole = self
    (whole.request, whole.sent, whole.asksForRest) = (.success(plain), [], false)
    whole.start = nil
    return whole
  }

  /// Why no request is sent; `nil` if one is.
  @inline(never)  // Inlining it crashes the optimizer of Swift 6.3.1.
  public var skipReason: SkipReason? {
    if case .failure(let error) = request { error.skipReason } else { nil }
  }

  /// The host that receives the request, in lowercase.
  public var host: ByteString? {
    guard case .success(let request) = request else { return nil }
    return CanonicalURL.host(of: ByteString(request.url))
  }

  private static let conditionalFields: [FieldName] = [
    .ifNoneMatch, .ifModifiedSince, .ifRange, .range,
  ]

  private static func isCondition(_ line: FieldLine) -> Bool {
    conditionalFields.contains { $0.matches(line.name) }
  }

  private static func failure(_ skipReason: SkipReason) -> Result<FetchRequest, SkippedError> {
    .failure(SkippedError(skipReason: skipReason))
  }

  /// Returns the lines that make the request conditional, if they can be sent.
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

  /// Returns the validator in a line; `nil` for `Range`, which contains none.
  private static func decider(
    of line: FieldLine, in request: ConditionalRequest
  ) -> ValidatorComparison.Decider? {
    if FieldName.ifNoneMatch.matches(line.name) { return .entityTag }
    if FieldName.ifModifiedSince.matches(line.name) { return .lastModified }
    guard FieldName.ifRange.matches(line.name) else { return nil }
    return request.validators.entityTag == nil ? .lastModified : .entityTag
  }

  /// Whether the store would contain credentials with which the response was stored.
  ///
  /// A Foundation store has no requests. Only `Vary` tells there that a response depends on credentials.
  private static func recordsCredentials(
    _ response: borrowing StoredResponse, _ exchange: Exchange
  ) -> Bool {
    if response.request.headers != nil { return true }
    guard case .file = response.id else { return false }
    guard case .fields(let names) = exchange.vary else { return true }
    return !names.contains { SecretNames.isSecretHeader($0.lowercased[...]) }
  }
}

extension ValidationRequest: ScratchRow {
  public func pack(into values: inout PackedValues) {
    values.append(version: version)
    values.append(url) { $0.append($1) }
    values.append(bodySize) { $0.append($1.bytes) }
    values.append(exchange) { $0.append(exchange: $1) }
    switch request {
    case .success(let request):
      values.append(true)
      values.append(request.payload)
    case .failure(let error):
      values.append(false)
      values.append(choice: error.skipReason)
    }
    values.append(sent: sent)
    values.append(asksForRest)
    values.append(start) {
      $0.append(pieces: $1.pieces)
      $0.append($1.size.bytes)
      $0.append(fields: $1.fields)
    }
    values.append(mayBeRewritten)
    values.append(choice: credentials)
  }

  public init(from reader: inout PackedReader) throws(PackedReader.Failure) {
    version = try reader.version()
    url = try reader.optionalText()
    bodySize = try reader.optionalNumber().map { ByteCount($0) }
    exchange = try reader.optional { reader throws(PackedReader.Failure) in try reader.exchange() }
    if try reader.flag() {
      guard let sent = FetchRequest(payload: try reader.data()) else {
        throw PackedReader.Failure()
      }
      request = .success(sent)
    } else {
      request = .failure(SkippedError(skipReason: try reader.choice()))
    }
    sent = try reader.sent()
    asksForRest = try reader.flag()
    start = try reader.optional { reader throws(PackedReader.Failure) in
      StoredStart(
        pieces: try reader.pieces(), size: ByteCount(try reader.number()),
        fields: try reader.fields())
    }
    mayBeRewritten = try reader.flag()
    credentials = try reader.choice()
  }
}
