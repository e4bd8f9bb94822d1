/// What comes of a request, one thing after the other; the last is an end or a failure.
public enum FetchEvent: Hashable, Sendable {
  /// The head of the answer has come.
  case head(FetchHead)
  /// More of the body has come.
  case body([UInt8])
  /// The answer is whole, as far as it was wanted.
  case end
  /// There is no whole answer.
  case failure(FetchFailure)

  /// Reads a frame; `nil` if it says nothing of an answer.
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
    case .request, .cancel: return nil
    }
  }
}
