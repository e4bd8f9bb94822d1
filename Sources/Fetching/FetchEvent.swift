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
