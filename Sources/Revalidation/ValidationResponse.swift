import Bytes
public import Fetching

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
