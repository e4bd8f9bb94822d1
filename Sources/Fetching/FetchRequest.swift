public import HTTPCaching

/// A request for `urlcache-admin-fetch` to send.
public struct FetchRequest: Hashable, Sendable {
  /// The redirects to follow.
  public enum Redirects: Int64, Hashable, Sendable, CaseIterable {
    /// None.
    case none
    /// All; most header fields are not sent to another origin.
    case any
    /// Those to the same origin, so that all requests have the same header fields.
    case sameOrigin
  }

  /// The method.
  public var method: [UInt8]

  /// The URL as stored, which may be invalid.
  public var url: [UInt8]

  /// The header section.
  public var fields: FieldSection

  /// The timeout for the head of the response, and then for each piece of the body, in milliseconds.
  public var timeoutMilliseconds: UInt32

  /// The maximum size of the body, in bytes; `nil` to fetch only the head.
  // The limit is in the request, as the program that sends it knows how much room it has for a
  // body.
  public var bodyLimit: Int64?

  /// The redirects to follow.
  public var redirects: Redirects

  /// Creates a request.
  public init(
    method: [UInt8] = Request.get, url: [UInt8], fields: FieldSection = FieldSection(),
    timeoutMilliseconds: UInt32 = 15_000, bodyLimit: Int64? = nil, redirects: Redirects = .none
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.timeoutMilliseconds = timeoutMilliseconds
    self.bodyLimit = bodyLimit
    self.redirects = redirects
  }
}

/// The head of a response.
public struct FetchHead: Hashable, Sendable {
  /// The status code.
  public var status: Int64

  /// The URL of the response, after any redirects.
  public var url: [UInt8]

  /// The header section as `URLSession` reports it: the case of names may have changed, and lines with the same name
  /// may be joined.
  public var fields: FieldSection

  /// Creates a head.
  public init(status: Int64, url: [UInt8], fields: FieldSection) {
    self.status = status
    self.url = url
    self.fields = fields
  }
}

/// The reason why a request failed.
public struct FetchFailure: Error, Hashable, Sendable {
  /// The kinds of failures.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The URL has no host or is not `http` or `https`, or a field cannot be sent.
    case notSendable = "not-sendable"
    /// The host is this machine or in a private network, and not the host of the URL itself.
    case privateAddress = "private-address"
    /// The host name does not resolve.
    case noSuchHost = "no-such-host"
    /// The origin could not be reached, or closed the connection too early.
    case connection
    /// A secure connection could not be established.
    case security
    /// The request timed out.
    case timeout
    /// The body exceeds the limit.
    case tooLarge = "too-large"
    /// The request was cancelled.
    case cancelled
    /// The response was not HTTP.
    case notHTTP = "not-http"
    /// Anything else.
    case other
  }

  /// The kind of failure.
  public var kind: Kind

  /// What happened: a clause, for people.
  public var reason: String

  /// Creates a failure.
  public init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}

/// An event of a request. The last one is an end or a failure.
public enum FetchEvent: Hashable, Sendable {
  /// The head of the response arrived.
  case head(FetchHead)
  /// A piece of the body arrived.
  case body([UInt8])
  /// The requested part of the response is complete.
  case end
  /// The request failed before the response was complete.
  case failure(FetchFailure)
  /// The request is sent again from its beginning. What arrived before does not count.
  case restart

  /// Creates an event from a frame; `nil` if it is not part of a response, or malformed.
  public init?(_ frame: Frame) {
    switch frame.kind {
    case .head:
      guard let head = FetchHead(payload: frame.payload) else { return nil }
      self = .head(head)
    case .body: self = .body(frame.payload)
    case .end: self = .end
    case .failure:
      guard let failure = FetchFailure(payload: frame.payload) else { return nil }
      self = .failure(failure)
    // Frames of the other direction. The fetching program repeats bytes of origins, so nothing that
    // it sends is trusted.
    case .request, .cancel, .output, .message, .question, .done: return nil
    }
  }
}
