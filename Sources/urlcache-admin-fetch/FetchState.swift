import Fetching
import FoundationNetworking

/// What is known of a request that is under way.
struct FetchState: Sendable {
  /// The number that the other process knows it by.
  let number: UInt32

  /// The request.
  let request: FetchRequest

  /// Where it may go.
  let rule: AddressRule

  /// Whether the head of the answer was sent on.
  var hasHead = false

  /// How many redirects have come.
  var redirects = 0

  /// The bytes of the body that have come.
  var bodyBytes: Int64 = 0

  /// When it was sent.
  let began = ContinuousClock.now

  /// When something last came of it.
  var lastHeard = ContinuousClock.now

  /// Why it was given up, if it was.
  var failure: FetchFailure?

  /// When it has failed for want of time, if nothing more comes of it.
  ///
  /// - Parameters:
  ///   - span: How long it may have no head, and then no further byte; 40 times as long it may take in all.
  ///   - heldUntil: When it could last not be heard, as the reader was behind.
  func deadline(
    for span: Duration, heldUntil: ContinuousClock.Instant?
  ) -> ContinuousClock.Instant {
    let silentSince = hasHead ? lastHeard : began
    return min(max(silentSince, heldUntil ?? silentSince) + span, began + span * 40)
  }
}
