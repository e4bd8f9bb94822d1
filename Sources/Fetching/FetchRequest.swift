public import HTTPCaching

/// A request that one process has another send.
public struct FetchRequest: Hashable, Sendable {
  /// The method, the URL and the header fields.
  public var method: [UInt8]

  /// The URL, as it was stored; it may be anything.
  public var url: [UInt8]

  /// The header section.
  public var fields: FieldSection

  /// How long to wait for the head of the answer, and then for each further piece, in milliseconds.
  public var timeoutMilliseconds: UInt32

  /// The most bytes of a body that are wanted; `nil` if the head of the answer is enough.
  public var bodyLimit: Int64?

  /// Whether redirects are followed.
  public var followsRedirects: Bool

  /// Creates a request.
  public init(
    method: [UInt8] = Request.get, url: [UInt8], fields: FieldSection = FieldSection(),
    timeoutMilliseconds: UInt32 = 15_000, bodyLimit: Int64? = nil, followsRedirects: Bool = false
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.timeoutMilliseconds = timeoutMilliseconds
    self.bodyLimit = bodyLimit
    self.followsRedirects = followsRedirects
  }
}

/// The head of an answer.
public struct FetchHead: Hashable, Sendable {
  /// The status code.
  public var status: Int64

  /// The URL that answered, after the redirects that were followed.
  public var url: [UInt8]

  /// The header section, as far as it is known: names may have been given other capitals, and lines of a
  /// name joined.
  public var fields: FieldSection

  /// Creates a head.
  public init(status: Int64, url: [UInt8], fields: FieldSection) {
    self.status = status
    self.url = url
    self.fields = fields
  }
}

/// Why a request has no whole answer.
public struct FetchFailure: Error, Hashable, Sendable {
  /// The kinds of failures.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The URL is none of `http` or `https` with a host, or a field cannot be sent.
    case notSendable = "not-sendable"
    /// The host is one of this machine or of a private network, and the URL does not say so.
    case privateAddress = "private-address"
    /// No address is known for the host.
    case noSuchHost = "no-such-host"
    /// The origin could not be reached, or ended the connection too early.
    case connection
    /// No secure connection came about.
    case security
    /// It took too long.
    case timeout
    /// The body is larger than was wanted.
    case tooLarge = "too-large"
    /// The request was cancelled.
    case cancelled
    /// What came was no HTTP.
    case notHTTP = "not-http"
    /// Anything else.
    case other
  }

  /// What kind of failure it is.
  public var kind: Kind

  /// What happened: a clause, for people.
  public var reason: String

  /// Creates a failure.
  public init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}
