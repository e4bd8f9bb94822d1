import Fetching

/// The state of a running request.
struct FetchState: Sendable {
  /// The number that identifies the request to the other process.
  let number: UInt32

  /// The request.
  let request: FetchRequest

  /// The rule for the hosts that it may reach.
  let rule: AddressRule

  /// Whether the head of the response was passed on.
  var hasHead = false

  /// The number of redirects so far.
  var redirects = 0

  /// The number of bytes of the body so far.
  var bodyBytes: Int64 = 0

  /// The time at which the request started.
  let began = ContinuousClock.now

  /// The time at which data last arrived.
  var lastHeard = ContinuousClock.now

  /// The reason why the request was aborted, if it was.
  var failure: FetchFailure?

  /// Returns the time at which the request times out if no more data arrives.
  ///
  /// - Parameters:
  ///   - span: The timeout for the head, and then for each piece of the body. The whole request may take 40 times as
  ///     long.
  ///   - heldUntil: The last time at which the reader was behind, so that no data could arrive.
  func deadline(
    for span: Duration, heldUntil: ContinuousClock.Instant?
  ) -> ContinuousClock.Instant {
    // Interim responses do not count as a head: an origin could send them for ever.
    let silentSince = hasHead ? lastHeard : began
    // Without an end for the whole, an origin that sends a byte a second could keep a request
    // running for days.
    return min(max(silentSince, heldUntil ?? silentSince) + span, began + span * 40)
  }
}
