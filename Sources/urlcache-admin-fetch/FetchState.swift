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

  /// Counts what comes, so that a silence can be told.
  var activity = 0

  /// Why it was given up, if it was.
  var failure: FetchFailure?
}
